"""Changes of unit files on the screen: the difference, the push, the deployment, the way back."""
