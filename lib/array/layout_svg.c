/* array/layout_svg.c - a layout as a picture for print: SVG.
 *
 * Panels stand side by side in rows, those of a second sharding after an arrow, or below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/layout.h"
#include "array/plate.h"
#include "array/svg.h"
#include "core/mem.h"

enum {
    MOST_SLICES = 6,
    PAGE_WIDTH = 1040, /* where more panels begin a new row */
    EDGE = 16,         /* around the page, and between panels */
    LINE = 26,         /* of text */
    ARROW = 70,        /* between plates */
};

/* Sizes of letters. */
static const double title_size = 15, caption_size = 12;

/* How the panels of a plate stand: in rows of `across`. */
struct arrangement {
    int count, across, down;
    double width, height;
};

static struct arrangement arrange(const struct plate *plate)
{
    int64_t slices = spmd__blocks_slices(&plate->side->blocks);
    struct arrangement panels = {.count = slices < MOST_SLICES ? (int)slices : MOST_SLICES};
    panels.across = (int)((PAGE_WIDTH + EDGE) / (plate->width + EDGE));
    panels.across = panels.across < 1 ? 1 : panels.across;
    panels.across = panels.across > panels.count ? panels.count : panels.across;
    panels.down = (panels.count + panels.across - 1) / panels.across;
    panels.width = panels.across * (plate->width + EDGE) - EDGE;
    panels.height = panels.down * (plate->height + EDGE) - EDGE;
    return panels;
}

/* Adds the blocks of all slices that draw_plate shows. */
static void colour_plate(const struct plate *plate, const struct arrangement *panels)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        spmd__plate_colour(plate, slice);
        slice = spmd__blocks_next_slice(&plate->side->blocks, slice, MOST_SLICES);
    }
}

static void draw_plate(FILE *stream, const struct plate *plate, const struct arrangement *panels,
                       double x, double y)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        double across = x + i % panels->across * (plate->width + EDGE);
        double down = y + i / panels->across * (plate->height + EDGE);
        spmd__plate_draw(plate, slice, stream, across, down);
        int64_t next = spmd__blocks_next_slice(&plate->side->blocks, slice, MOST_SLICES);
        if (next > slice + 1)
            spmd__svg_dots(stream, across + plate->width + EDGE / 2.0, down + plate->middle, true,
                           false);
        slice = next;
    }
}

/* Everything on the page, at its place. */
struct page {
    int nplates; /* 0 without elements */
    struct plate plate[2];
    struct arrangement panels[2];
    double x[2], y[2]; /* of the plates */
    bool beside;
    double width, height;
    struct colouring colouring;
};

/* Puts the second plate beside the first one or below. */
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
    page.nplates = sheet->side[0].blocks.count > 0 ? sheet->nsides : 0;
    double longest = spmd__svg_text_width((int)strlen(title), title_size);
    longest = fmax(longest, spmd__svg_text_width((int)strlen(caption), caption_size));
    page.y[0] = EDGE + LINE + (sheet->nsides == 2 ? LINE : 0);
    page.width = longest;
    page.height = page.y[0];
    for (int i = 0; i < page.nplates; i++) {
        page.plate[i] = spmd__plate_make(sheet, &sheet->side[i]);
        page.panels[i] = arrange(&page.plate[i]);
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

/* Chooses the colours for all plates; the caller frees the list of blocks. */
static spmd_status colour_page(struct page *page)
{
    enum { MOST_BLOCKS = 2 * MOST_SLICES * PLATE_TRACKS * PLATE_TRACKS };
    TRY(spmd__alloc(MOST_BLOCKS, sizeof *page->colouring.block, &page->colouring.block));
    for (int i = 0; i < page->nplates; i++) {
        page->plate[i].colouring = &page->colouring;
        colour_plate(&page->plate[i], &page->panels[i]);
    }
    spmd__colouring_choose(&page->colouring);
    return SPMD_OK;
}

/* From the first plate to the second one. */
static void draw_arrow(FILE *stream, const struct page *page)
{
    const struct plate *plate = &page->plate[0];
    if (page->beside)
        spmd__svg_arrow(stream, page->x[1] - ARROW / 2.0 - 16, page->y[0] + plate->middle, false);
    else
        spmd__svg_arrow(stream, page->x[0] + plate->left + 16, page->y[1] - 2.5 * LINE + 8, true);
}

static void draw_page(FILE *stream, const struct sheet *sheet, const struct page *page)
{
    for (int i = 0; i < page->nplates; i++) {
        if (sheet->nsides == 2)
            spmd__svg_text(stream, page->x[i] + page->plate[i].left, page->y[i] - LINE / 2.0,
                           title_size, "start", sheet->side[i].text);
        draw_plate(stream, &page->plate[i], &page->panels[i], page->x[i], page->y[i]);
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
