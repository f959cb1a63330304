/* net.h - a multi-layer perceptron with softmax, on one rank. */
#ifndef APPS_NET_H
#define APPS_NET_H

#include <spmd.h>

enum {
    NET_MAX_DEPTH = 32, /* hidden layers */
    NET_MAX_LAYERS = NET_MAX_DEPTH + 1,
};

/* Layer l of weights leads from units size[l] to units size[l + 1]. Rows of units are padded with
 * zeros: row i begins at i * ld[l]. */
struct net {
    int nlayers;                  /* of weights */
    int size[NET_MAX_LAYERS + 1]; /* [nlayers + 1] features, units of hidden layers, classes */
    int ld[NET_MAX_LAYERS + 1];   /* [nlayers + 1] the same with padding */
    int rows;                     /* that fit into the activations */
    size_t nweights, nparams;
    float *params; /* [nparams] weights, then biases */
    float *grads, *velocity;

    /* Parts of params and of grads. */
    float *w[NET_MAX_LAYERS], *dw[NET_MAX_LAYERS]; /* [size[l], ld[l + 1]] */
    float *b[NET_MAX_LAYERS], *db[NET_MAX_LAYERS]; /* [ld[l + 1]] */

    /* Activations, and the gradients of hidden ones. */
    float *a[NET_MAX_LAYERS + 1], *da[NET_MAX_LAYERS + 1]; /* [rows, ld[l]] */
};

/* All of a network's memory, zeroed, for `rows` rows at a time. Fails with SPMD_ERR_MEMORY. */
spmd_status net_create(int features, int depth, int width, int classes, int rows, struct net *net);
void net_free(struct net *net);

/* He's initialisation: normal with variance 2 / inputs; biases 0. */
spmd_status net_init(struct net *net, spmd_key key);

/* Logits of `rows` rows of x f32[rows, features], whose rows are `ldx` apart, left in the last
 * layer's activations. */
void net_forward(struct net *net, const float *x, int ldx, int rows);

/* The sum of the rows' cross-entropies. Turns the logits into the gradient of their mean. */
double net_loss(struct net *net, const int32_t *labels, int rows);

/* From there, the gradients of all parameters. The rows are those of net->a[0]. */
void net_backward(struct net *net, int rows);

/* A step of momentum SGD; `decay` is of weights, not of biases. */
void net_update(struct net *net, float lr, float momentum, float decay);

/* The sum of the rows' cross-entropies, without gradients; adds the right answers to *right. */
double net_score(struct net *net, const int32_t *labels, int rows, int64_t *right);

#endif
