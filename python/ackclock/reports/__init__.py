"""What all reports share: templates, rendering, units."""
