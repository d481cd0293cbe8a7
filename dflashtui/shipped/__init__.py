"""What programs have in common that are sent to a host over stdin and run there from memory."""
