import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, serviceUrl } from '../command-line/value-kinds.ts'
import { optional } from '../options.ts'

/** The options of commands that call a running service. */
export const serviceOptions = {
  url: optional(
    '<url>',
    serviceUrl,
    'address of the service; without it, FACEGATE_URL, the saved context, or http://127.0.0.1:8080',
  ),
  key: optional('<key>', anyText, 'the API key; without it, FACEGATE_KEY or the saved context'),
}

export const contextCommands = defineGroup('context', [
  defineCommand('context set', {
    options: {
      url: optional('<url>', serviceUrl),
      project: optional('<id or name>', anyText),
      key: optional('<key>', anyText),
    },
    run: async (values) => (await import('./saved-context.ts')).set(values),
  }),
  defineCommand('context show', {
    run: async (values) => (await import('./saved-context.ts')).show(values),
  }),
  defineCommand('context clear', {
    run: async (values) => (await import('./saved-context.ts')).clear(values),
  }),
])
