"""The machinery that carries out work: executors, the cache of results, folders and locks, limits, the console."""
