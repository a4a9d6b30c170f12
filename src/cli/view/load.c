/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/load.h"

#include "output/report.h"
#include "plugin.h"

#include <dlfcn.h>

#define WHERE_FROM                                                                                           \
    "install the package lode-view, or build Lode with -Dviewer=enabled (it needs libmicrohttpd)"

#ifdef VIEW_IS_LINKED
extern const view_transport lode_view_plugin;

const view_transport *view_load_transport(void)
{
    return &lode_view_plugin;
}
#else
const view_transport *view_load_transport(void)
{
    static plugin found;
    if (!plugin_is_possible()) {
        report("this static program was built without libmicrohttpd, and so without 'lode view'");
        return NULL;
    }
    plugin_find("view", &found);
    if (found.state == PLUGIN_MISSING)
        report("%s: not found; this plug-in serves 'lode view': " WHERE_FROM, found.path);
    if (found.state == PLUGIN_REFUSED)
        report("%s: refused: %.400s", found.path, found.reason);
    if (found.state != PLUGIN_FOUND)
        return NULL;
    void *library = dlopen(found.path, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror(); /* NOLINT(concurrency-mt-unsafe): thread-local */
    const view_transport *transport = library ? dlsym(library, "lode_view_plugin") : NULL;
    if (!library)
        report("cannot load the plug-in: %s; " WHERE_FROM, why ? why : found.path);
    else if (!transport || transport->version != VIEW_TRANSPORT_VERSION)
        report("%s: a plug-in of another version of Lode", found.path);
    else
        return transport;
    return NULL;
}
#endif
