import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { serviceUrl } from '../command-line/service-url.ts'
import { anyText } from '../command-line/value-kinds.ts'
import { optional } from '../options.ts'

/** The options of commands that call a running service. */
export const serviceOptions = {
  url: optional(
    '<url>',
    'address of the service; without it, FACEGATE_URL, the saved context, or http://127.0.0.1:8080',
    serviceUrl,
  ),
  key: optional('<key>', 'the API key; without it, FACEGATE_KEY or the saved context', anyText),
}

export const contextCommands = defineGroup({
  name: 'context',
  summary: 'save the address, project and key that other commands use',
  description:
    'The file is facegate/context.json in XDG_CONFIG_HOME, or in ~/.config; only you can read it. Options and the environment have precedence. The saved project applies to commands that need --project, and the saved key only to the saved address.',
  commands: [
    defineCommand({
      name: 'set',
      summary: 'save values; those that are not given stay',
      options: {
        url: optional('<url>', 'address of the service; another one removes the key', serviceUrl),
        project: optional('<id or name>', 'project of commands without --project', anyText),
        key: optional(
          '<key>',
          'API key, which is stored as plain text; FACEGATE_KEY is safer',
          anyText,
        ),
      },
      run: async (values) => (await import('./saved-context.ts')).set(values),
    }),
    defineCommand({
      name: 'show',
      summary: 'show the saved values, without the key',
      run: async (values) => (await import('./saved-context.ts')).show(values),
    }),
    defineCommand({
      name: 'clear',
      summary: 'delete the saved values',
      run: async (values) => (await import('./saved-context.ts')).clear(values),
    }),
  ],
})
