/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors: parameters and result as the Java machine notes them behind the name of a method, "app.Shop.find(I[Ljava/lang/String;)V". */
#ifndef LODE_MODEL_DESCRIPTOR_H
#define LODE_MODEL_DESCRIPTOR_H

struct lode_label;

/* Where the descriptor of a method begins; NULL if the name does not end with one. */
const char *lode_descriptor(const char *name);
/* A symbol as it is in C++ or Java, if it has such a form, else as it is. */
void lode_symbol_put(struct lode_label *label, const char *symbol);
/* The parameters of a descriptor as people write them: "(int, java.lang.String[])". */
void lode_descriptor_put(struct lode_label *label, const char *descriptor);

#endif
