"""What things cost: each module measures one and says when the machine was too busy to tell."""
