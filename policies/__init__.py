"""The policy pack: rules that keep an EKS cluster at one shared observability layer."""
