"""The preflight on the screen: findings, and the remedies that are commands."""
