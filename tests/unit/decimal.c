/* decimal.c - unit tests of numbers in a program whose language writes them with a comma. */
#include <locale.h>
#include <stdio.h>

#include "abstract.h"

/* Makes such a language, and speaks it. */
static bool take_language(char *directory)
{
    static const char source[] =
        "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\n"
        "END LC_NUMERIC\n";
    char path[64], command[256];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/source", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command, "localedef -c -i %s %s/comma >/dev/null 2>&1", path,
             directory);
    (void)!system(command); /* it warns of all other categories by its status */
    setenv("LOCPATH", directory, 1);
    bool made = setlocale(LC_NUMERIC, "comma") != NULL;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) == 0 && made;
}

/* Whether numbers have a comma now; a system may have no tool to make the language. */
static bool speak_with_a_comma(void)
{
    char directory[] = "/tmp/spmd-decimal.XXXXXX", half[8];
    if (!take_language(directory)) {
        printf("# no localedef: nothing is tested\n");
        return false;
    }
    snprintf(half, sizeof half, "%.1f", 0.5);
    ck_assert_str_eq(half, "0,5");
    return true;
}

static void assert_still_a_comma(void)
{
    ck_assert_str_eq(localeconv()->decimal_point, ",");
}

START_TEST(settings_are_read_with_a_point)
{
    if (!speak_with_a_comma())
        return;
    setenv("SPMD_WATCHDOG", "0.5", 1);
    ASSERT_OK(spmd_setting_check(SPMD_SETTING_WATCHDOG));
    assert_still_a_comma();
}
END_TEST

/* To be freed. */
static char *print(spmd_status form(const spmd_layout *layout, FILE *stream))
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    spmd_sharding *sharding = lay("x=2,y=3", "P(x,y)");
    spmd_layout layout = {.sharding = sharding, .shape = {.ndim = 2, .dim = {5, 7}}};
    ASSERT_OK(form(&layout, stream));
    spmd_sharding_free(&sharding);
    fclose(stream);
    return text;
}

START_TEST(pictures_are_the_same_bytes)
{
    char *json = print(spmd_layout_print_json), *svg = print(spmd_layout_print_svg);
    ck_assert_ptr_nonnull(strstr(json, "\"balance\": 1.54286"));
    if (speak_with_a_comma()) {
        char *other_json = print(spmd_layout_print_json), *other_svg = print(spmd_layout_print_svg);
        ck_assert_str_eq(other_json, json);
        ck_assert_str_eq(other_svg, svg);
        assert_still_a_comma();
        free(other_json);
        free(other_svg);
    }
    free(json);
    free(svg);
}
END_TEST

UNIT_MAIN("decimal", settings_are_read_with_a_point, pictures_are_the_same_bytes)
