/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of XML documents. */
#ifndef LODE_BASE_XML_H
#define LODE_BASE_XML_H

#include <stddef.h>

/*
 * Writes the value of an attribute, part by part: escaped, and what XML cannot represent replaced
 * (U+FFFD). The document is in UTF-8.
 */
void lode_xml_escape(const char *text, void (*put)(void *user, const char *bytes, size_t size), void *user);

#endif
