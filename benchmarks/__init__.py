"""What the product promises in time and cost, measured on this machine beside what people use instead."""
