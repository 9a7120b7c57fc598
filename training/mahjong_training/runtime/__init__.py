"""What runs work: processes, caches, folders and locks, limits, progress, interrupts."""
