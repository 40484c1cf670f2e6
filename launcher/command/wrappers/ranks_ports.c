/* Where a launcher is told the port at which its ranks meet. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/ranks.h"
#include "launcher/command/wrappers/unwrap.h"

#include <string.h>

/*
 * A script is never written, so its words stay; what is new in it would come
 * to stand behind the training's own arguments, and between $1 and $2 nothing
 * can be. Of a word that is quoted anew no $X may be left.
 */
static bool can_change(const struct wrapper *wrapper,
		       const struct launch_port *port)
{
	const struct word *word = wrapper_word(wrapper, port->index);
	const char *text = wrapper->argv->items[port->index];

	if (!word)
		return true;
	if (port->option)
		return !wrapper->view->expansion.script && !word->is_numbered &&
		       !wrapper_word(wrapper, port->index - 1)->is_numbered;
	return word->origin != WORD_SCRIPT &&
	       (!word->is_opaque || strcspn(text, "$`") >= port->offset);
}

static void port_add(const struct wrapper *wrapper,
		     const struct launch_port *port)
{
	struct command_view *view = wrapper->view;

	if (view->port_count < LAUNCH_PORTS_MAX && can_change(wrapper, port))
		view->ports[view->port_count++] = *port;
}

/* The port of "host:29500"; one that is 0 is found free by itself. */
static void endpoint_add(const struct wrapper *wrapper,
			 const struct launch_said *endpoint)
{
	const char *colon = strrchr(endpoint->value, ':');
	const char *port = colon ? colon + 1 : "";

	if (endpoint->index == NO_INDEX || *port == '\0' ||
	    strcmp(port, "0") == 0 || port[strspn(port, "0123456789")])
		return;
	port_add(wrapper, &(struct launch_port){
				  .index = endpoint->index,
				  .offset = endpoint->offset +
					    (size_t)(port - endpoint->value),
			  });
}

/*
 * torch/distributed/run.py, 1.13 to 2.9: an endpoint wins over --master_port,
 * which only the static rendezvous reads; c10d without an endpoint takes port
 * 29400, and a rendezvous server (etcd) has a port of its own.
 */
void launch_ports_find(const struct wrapper *wrapper,
		       const struct launch *launch)
{
	const struct launch_said *said = launch->said;
	const char *backend = said[SAYS_BACKEND].value;
	bool is_static = !backend || strcmp(backend, "static") == 0;

	if (!launch->row->port_option || launch->is_single ||
	    said[SAYS_OWN_PORT].value)
		return;
	if (said[SAYS_ENDPOINT].value) {
		if (is_static || strcmp(backend, "c10d") == 0)
			endpoint_add(wrapper, &said[SAYS_ENDPOINT]);
	} else if (said[SAYS_PORT].value) {
		port_add(wrapper, &(struct launch_port){
					  .index = said[SAYS_PORT].index,
					  .offset = said[SAYS_PORT].offset,
				  });
	} else if (is_static) {
		port_add(wrapper, &(struct launch_port){
					  .index = launch->first,
					  .option = launch->row->port_option,
				  });
	}
}
