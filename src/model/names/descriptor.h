/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of names. JVM method descriptors: "app.Shop.find(I[Ljava/lang/String;)V". */
#ifndef LODE_MODEL_DESCRIPTOR_H
#define LODE_MODEL_DESCRIPTOR_H

struct lode_label;

/* The start of the descriptor; NULL if the name does not end with one. */
const char *lode_descriptor(const char *name);
/* The demangled C++ or Java form of a symbol, if any, else the symbol itself. */
void lode_symbol_put(struct lode_label *label, const char *symbol);
/* The simple form of a symbol that is mangled or stored demangled; else the symbol itself. */
void lode_simple_put(struct lode_label *label, const char *symbol);
/* The part of a demangled function behind its result type; all of it if it has none. */
const char *lode_without_result(const char *demangled);
/* The parameters of a descriptor in Java syntax: "(int, java.lang.String[])". */
void lode_descriptor_put(struct lode_label *label, const char *descriptor);

#endif
