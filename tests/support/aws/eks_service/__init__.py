"""The parts of EKS that moto lacks or lets pass, as functions that take moto's request and answer it."""
