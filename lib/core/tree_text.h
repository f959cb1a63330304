/* core/tree_text.h - trees as texts: "{b: P(), w: P(-,model)}", "[0, {w: 0, b: None}]".
 *
 * Lists are in brackets, or as Python's tuples in parentheses, dicts in braces; a key is a word, or
 * stands in quotes. A comma may follow the last entry. */
#ifndef CORE_TREE_TEXT_H
#define CORE_TREE_TEXT_H

#include "core/tree.h"

/* Reads a tree of specs: texts "P(...)", or None. A text that is no list, dict or None is one spec,
 * which may lack its P( ). The specs themselves are not read. Fails with SPMD_ERR_SYNTAX and the
 * column, SPMD_ERR_ARGUMENT for a key that cannot be one; messages call the text `what`. */
spmd_status spmd__tree_parse_specs(const char *text, const char *what, spmd_tree **tree);

/* Reads a tree of axes: integers, or None. Fails likewise. */
spmd_status spmd__tree_parse_axes(const char *text, const char *what, spmd_tree **tree);

/* Writes the canonical text: that of a parsed tree reads back as the same tree. */
void spmd__tree_print(struct text *text, const spmd_tree *tree);

#endif
