/* core/erfinv.c - the inverse of the error function, after Giles, "Approximating the erfinv
 * function" (2012), with the logarithms of Cephes: step by step as XLA computes it on CPUs. */
#include "core/erfinv.h"

#include <math.h>
#include <stddef.h>

#include "core/clones.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Coefficients, highest power first; in f32 for w < 5 and from there on, in f64 for w < 6.25,
 * w < 16 and from there on, where w = -log(1 - x^2). */
static const float near32[] = {
    2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
    -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f,
};
static const float tail32[] = {
    -0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
    -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f,
};
static const double near64[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356,
};
static const double middle64[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635,
};
static const double tail64[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977,      4.8499064014085844221,
};

/* Coefficients of Cephes' log(1 + x) = x - x^2/2 + x^3 P(x)/Q(x), for both types. */
#define LOG1P_P                                                                             \
    4.5270000862445199635215e-5, 4.9854102823193375972212e-1, 6.5787325942061044846969,     \
        2.9911919328553073277375e1, 6.0949667980987787057556e1, 5.7112963590585538103336e1, \
        2.0039553499201281259648e1
#define LOG1P_Q                                                                            \
    1, 1.5062909083469192043167e1, 8.3047565967967209469434e1, 2.2176239823732856465394e2, \
        3.0909872225312059774938e2, 2.1642788614495947685003e2, 6.0118660497603843919306e1
static const float log1p_p32[] = {LOG1P_P};
static const float log1p_q32[] = {LOG1P_Q};
static const double log1p_p64[] = {LOG1P_P};
static const double log1p_q64[] = {LOG1P_Q};
static const double log1p_bound = 0.41421356237309504880; /* sqrt(2) - 1 */

INLINED float horner32(const float *coefficient, size_t count, float w)
{
    float p = coefficient[0];
    for (size_t i = 1; i < count; i++)
        p = fmaf(p, w, coefficient[i]);
    return p;
}

INLINED double horner64(const double *coefficient, size_t count, double w)
{
    double p = coefficient[0];
    for (size_t i = 1; i < count; i++)
        p = fma(p, w, coefficient[i]);
    return p;
}

/* Cephes' log(m 2^e) = log(1 + x) + e log(2), where m = 1 + x lies in sqrt(1/2) ... sqrt(2); the
 * polynomial is cut in three that do not wait for each other, and log(2) in two parts. */
INLINED float log32(float value)
{
    int exponent;
    float x = frexpf(value, &exponent);
    if (x < 0.707106781186547524f) {
        x += x;
        exponent--;
    }
    x -= 1;
    const float e = (float)exponent, x2 = x * x, x3 = x2 * x;
    float high = fmaf(fmaf(7.0376836292e-2f, x, -1.1514610310e-1f), x, 1.1676998740e-1f);
    float middle = fmaf(fmaf(-1.2420140846e-1f, x, 1.4249322787e-1f), x, -1.6668057665e-1f);
    float low = fmaf(fmaf(2.0000714765e-1f, x, -2.4999993993e-1f), x, 3.3333331174e-1f);
    float p = fmaf(fmaf(high, x3, middle), x3, low);
    float sum = fmaf(-0.5f, x2, x) + fmaf(p, x3, -2.12194440e-4f * e);
    return fmaf(0.693359375f, e, sum);
}

INLINED float log1p32(float x)
{
    if (fabsf(x) >= (float)log1p_bound)
        return log32(1 + x);
    const float x2 = x * x;
    float ratio =
        horner32(log1p_p32, LENGTH(log1p_p32), x) / horner32(log1p_q32, LENGTH(log1p_q32), x);
    return x + fmaf(-0.5f, x2, x * x2 * ratio);
}

INLINED double log1p64(double x)
{
    if (fabs(x) >= log1p_bound)
        return log(1 + x);
    const double x2 = x * x;
    double ratio =
        horner64(log1p_p64, LENGTH(log1p_p64), x) / horner64(log1p_q64, LENGTH(log1p_q64), x);
    return x + fma(-0.5, x2, x * x2 * ratio);
}

INLINED float erfinv32(float x)
{
    float w = -log1p32(-x * x);
    if (w < 5)
        return horner32(near32, LENGTH(near32), w - 2.5f) * x;
    return horner32(tail32, LENGTH(tail32), sqrtf(w) - 3) * x;
}

INLINED double erfinv64(double x)
{
    double w = -log1p64(-x * x);
    if (w < 6.25)
        return horner64(near64, LENGTH(near64), w - 3.125) * x;
    if (w < 16)
        return horner64(middle64, LENGTH(middle64), sqrt(w) - 3.25) * x;
    return horner64(tail64, LENGTH(tail64), sqrt(w) - 5) * x;
}

CLONES("fma") void spmd__erfinv32(size_t count, float *x)
{
    for (size_t i = 0; i < count; i++)
        x[i] = erfinv32(x[i]);
}

CLONES("fma") void spmd__erfinv64(size_t count, double *x)
{
    for (size_t i = 0; i < count; i++)
        x[i] = erfinv64(x[i]);
}
