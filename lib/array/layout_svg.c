/* array/layout_svg.c - a layout as a picture for print: SVG.
 *
 * Panels stand side by side in rows, those of a second sharding after an arrow, or below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/layout.h"
#include "array/figure.h"
#include "array/svg.h"
#include "core/mem.h"

enum {
    MOST_SLICES = 6,
    PAGE_WIDTH = 1040, /* where more panels begin a new row */
    EDGE = 16,         /* around the page, and between panels */
    LINE = 26,         /* of text */
    ARROW = 70,        /* between figures */
};

/* Sizes of letters. */
static const double title_size = 15, caption_size = 12;

/* How the panels of a figure stand: in rows of `across`. */
struct arrangement {
    int count, across, down;
    double width, height;
};

static struct arrangement arrange(const struct figure *figure)
{
    int64_t slices = spmd__blocks_slices(&figure->side->blocks);
    struct arrangement panels = {.count = slices < MOST_SLICES ? (int)slices : MOST_SLICES};
    panels.across = (int)((PAGE_WIDTH + EDGE) / (figure->width + EDGE));
    panels.across = panels.across < 1 ? 1 : panels.across;
    panels.across = panels.across > panels.count ? panels.count : panels.across;
    panels.down = (panels.count + panels.across - 1) / panels.across;
    panels.width = panels.across * (figure->width + EDGE) - EDGE;
    panels.height = panels.down * (figure->height + EDGE) - EDGE;
    return panels;
}

/* Adds the blocks of all slices that draw_figure shows. */
static void colour_figure(const struct figure *figure, const struct arrangement *panels)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        spmd__figure_colour(figure, slice);
        slice = spmd__blocks_next_slice(&figure->side->blocks, slice, MOST_SLICES);
    }
}

static void draw_figure(FILE *stream, const struct figure *figure, const struct arrangement *panels,
                        double x, double y)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        double across = x + i % panels->across * (figure->width + EDGE);
        double down = y + i / panels->across * (figure->height + EDGE);
        spmd__figure_draw(figure, slice, stream, across, down);
        int64_t next = spmd__blocks_next_slice(&figure->side->blocks, slice, MOST_SLICES);
        if (next > slice + 1)
            spmd__svg_dots(stream, across + figure->width + EDGE / 2.0, down + figure->middle, true,
                           false);
        slice = next;
    }
}

/* Everything on the page, at its place. */
struct page {
    int nfigures; /* 0 without elements */
    struct figure figure[2];
    struct arrangement panels[2];
    double x[2], y[2]; /* of the figures */
    bool beside;
    double width, height;
    struct colouring colouring;
};

/* Puts the second figure beside the first one or below. */
static void place_second(struct page *page)
{
    const struct arrangement *panels = page->panels;
    page->beside = panels[0].width + ARROW + panels[1].width <= PAGE_WIDTH;
    page->x[1] = page->x[0] + (page->beside ? panels[0].width + ARROW : 0);
    page->y[1] = page->y[0] + (page->beside ? 0 : panels[0].height + 2.5 * LINE);
}

static struct page make_page(const struct sheet *sheet, const char *title, const char *caption)
{
    struct page page = {.x = {EDGE, EDGE}};
    page.nfigures = sheet->side[0].blocks.count > 0 ? sheet->nsides : 0;
    double longest = spmd__svg_text_width((int)strlen(title), title_size);
    longest = fmax(longest, spmd__svg_text_width((int)strlen(caption), caption_size));
    page.y[0] = EDGE + LINE + (sheet->nsides == 2 ? LINE : 0);
    page.width = longest;
    page.height = page.y[0];
    for (int i = 0; i < page.nfigures; i++) {
        page.figure[i] = spmd__figure_make(sheet, &sheet->side[i]);
        page.panels[i] = arrange(&page.figure[i]);
        if (i == 1)
            place_second(&page);
        double spec = sheet->nsides == 2
                          ? spmd__svg_text_width((int)strlen(sheet->side[i].text), title_size)
                          : 0;
        page.width = fmax(page.width, page.x[i] - EDGE + fmax(spec, page.panels[i].width));
        page.height = fmax(page.height, page.y[i] + page.panels[i].height);
    }
    page.width += 2 * EDGE;
    page.height += EDGE + (caption[0] != '\0' ? LINE : 0);
    return page;
}

/* Chooses the colours for all figures; the caller frees the list of blocks. */
static spmd_status colour_page(struct page *page)
{
    enum { MOST_BLOCKS = 2 * MOST_SLICES * FIGURE_TRACKS * FIGURE_TRACKS };
    TRY(spmd__alloc(MOST_BLOCKS, sizeof *page->colouring.block, &page->colouring.block));
    for (int i = 0; i < page->nfigures; i++) {
        page->figure[i].colouring = &page->colouring;
        colour_figure(&page->figure[i], &page->panels[i]);
    }
    spmd__colouring_choose(&page->colouring);
    return SPMD_OK;
}

/* From the first figure to the second one. */
static void draw_arrow(FILE *stream, const struct page *page)
{
    const struct figure *figure = &page->figure[0];
    if (page->beside)
        spmd__svg_arrow(stream, page->x[1] - ARROW / 2.0 - 16, page->y[0] + figure->middle, false);
    else
        spmd__svg_arrow(stream, page->x[0] + figure->left + 16, page->y[1] - 2.5 * LINE + 8, true);
}

static void draw_page(FILE *stream, const struct sheet *sheet, const struct page *page)
{
    for (int i = 0; i < page->nfigures; i++) {
        if (sheet->nsides == 2)
            spmd__svg_text(stream, page->x[i] + page->figure[i].left, page->y[i] - LINE / 2.0,
                           title_size, "start", sheet->side[i].text);
        draw_figure(stream, &page->figure[i], &page->panels[i], page->x[i], page->y[i]);
        if (i == 1)
            draw_arrow(stream, page);
    }
}

spmd_status spmd__sheet_print_svg(const struct sheet *sheet, FILE *stream)
{
    char title[4096], caption[1024];
    struct text title_text = spmd__text_begin(title, sizeof title);
    struct text caption_text = spmd__text_begin(caption, sizeof caption);
    spmd__sheet_print_title(&title_text, sheet);
    if (sheet->side[0].blocks.count == 0)
        spmd__text_add(&title_text, ": no elements");
    if (sheet->nsides == 2) {
        spmd__text_add(&caption_text, "reshard: ");
        spmd__move_print(&caption_text, sheet->axes, &sheet->move);
    }
    struct page page = make_page(sheet, title, caption);
    TRY(colour_page(&page));
    spmd__svg_begin(stream, page.width, page.height, title);
    spmd__svg_text(stream, EDGE, EDGE + title_size / 2, title_size, "start", title);
    draw_page(stream, sheet, &page);
    if (caption[0] != '\0')
        spmd__svg_text(stream, EDGE, page.height - EDGE, caption_size, "start", caption);
    spmd__svg_end(stream);
    free(page.colouring.block);
    return SPMD_OK;
}
