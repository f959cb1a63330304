/* routes.h - routes between two specs on one mesh, from their texts. */
#ifndef ROUTES_H
#define ROUTES_H

#include "core/route.h"
#include "unit.h"

struct fixture {
    struct axes axes;
    struct spec from, to;
    struct route route;
};

/* Points into itself. */
static inline void make(struct fixture *f, const char *mesh, const char *from, const char *to,
                        spmd_shape shape)
{
    ASSERT_OK(spmd__axes_parse(mesh, 0, &f->axes));
    ASSERT_OK(spmd__spec_parse(from, &f->axes, &f->from));
    ASSERT_OK(spmd__spec_parse(to, &f->axes, &f->to));
    f->route = spmd__route_within(&f->axes, &f->from, &f->to, shape);
}

#endif
