/* keep_plugins.c - keeps MPI's plugins loaded to the end, for the leak check: what they leak then
 * carries their names, and tests/lsan.supp matches it. Found in place of libc's by the libraries,
 * hence the -rdynamic of a build with sanitizers. */
int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
