"""Why something is not running: read from the cluster, since the engine only says that it waited in vain."""
