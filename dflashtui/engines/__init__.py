"""What each inference engine serves, prints and means. Pure."""
