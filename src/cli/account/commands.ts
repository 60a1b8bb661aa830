import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, name } from '../command-line/value-kinds.ts'
import { flag, required } from '../options.ts'

const account = required('<account>', anyText, 'id or name of the account')

export const accountCommands = defineGroup('account', [
  defineCommand('account create', {
    arguments: { name: required('<name>', name) },
    run: async (values) => (await import('./accounts.ts')).create(values),
  }),
  defineCommand('account list', {
    run: async (values) => (await import('./accounts.ts')).list(values),
  }),
  defineCommand('account move', {
    arguments: { account },
    options: {
      to: required('<url>', anyText),
      cancel: flag(),
    },
    run: async (values) => (await import('./moves.ts')).move(values),
  }),
  defineCommand('account remove', {
    arguments: { account },
    run: async (values) => (await import('./moves.ts')).remove(values),
  }),
])
