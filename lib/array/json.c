/* array/json.c - what the JSON forms of layouts and of plans have in common. */
#include "array/json.h"

void spmd__json_shape(FILE *stream, spmd_shape shape)
{
    fputc('[', stream);
    for (int d = 0; d < shape.ndim; d++)
        fprintf(stream, "%s%lld", d > 0 ? ", " : "", (long long)shape.dim[d]);
    fputc(']', stream);
}

void spmd__json_mesh(FILE *stream, const char *prefix, const struct axes *axes)
{
    char mesh[1024];
    struct text text = spmd__text_begin(mesh, sizeof mesh);
    spmd__axes_print(&text, axes);
    fprintf(stream, "  \"%smesh\": \"%s\",\n  \"%saxes\": [", prefix, mesh, prefix);
    for (int a = 0; a < axes->count; a++)
        fprintf(stream, "%s{\"name\": \"%s\", \"size\": %lld}", a > 0 ? ", " : "", axes->name[a],
                (long long)axes->size[a]);
    fputs("],\n", stream);
}

void spmd__json_axis_names(FILE *stream, const struct axes *axes, const struct axis_list *list)
{
    fputc('[', stream);
    for (int i = 0; i < list->count; i++)
        fprintf(stream, "%s\"%s\"", i > 0 ? ", " : "", axes->name[list->axis[i]]);
    fputc(']', stream);
}

void spmd__json_amount(FILE *stream, const char *name, double amount)
{
    fprintf(stream, amount < 0x1p53 ? "\"%s\": %.0f" : "\"%s\": null", name, amount);
}
