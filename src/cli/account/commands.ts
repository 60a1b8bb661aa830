import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, projectName } from '../command-line/value-kinds.ts'
import { flag, required } from '../options.ts'

const account = required('<account>', 'id or name of the account', anyText)

export const accountCommands = defineGroup({
  name: 'account',
  summary: 'create and list accounts, and move one to another PostgreSQL database',
  description:
    'An account has a wallet, projects, users, galleries, deletion records and an audit log. Everything of an account is in one database.',
  commands: [
    defineCommand({
      name: 'create',
      summary: 'create an account; its wallet is empty',
      arguments: {
        name: required('<name>', 'name of the new account', projectName),
      },
      run: async (values) => (await import('./accounts.ts')).create(values),
    }),
    defineCommand({
      name: 'list',
      summary: 'list all accounts, and whether they are being moved',
      run: async (values) => (await import('./accounts.ts')).list(values),
    }),
    defineCommand({
      name: 'move',
      summary: 'move an account from the PostgreSQL database of DATABASE_URL to another one',
      arguments: { account },
      options: {
        to: required('<url>', 'postgres://role:password@host:5432/database', anyText),
        cancel: flag('end a move that is not complete: the account is active here again'),
      },
      description: [
        'The servers of both databases keep running, with the same version and the same master key. Calls and changes of the account return 503 with Retry-After from the beginning until a proxy routes them to the other servers; calls of other accounts are not affected.',
        'The target receives all rows in one transaction, after every value was compared, the ledger was audited and the keys were unwrapped. After any interruption, run the command again, or end the move with --cancel. See docs/operations/several-databases.md.',
      ].join('\n'),
      run: async (values) => (await import('./moves.ts')).move(values),
    }),
    defineCommand({
      name: 'remove',
      summary: 'delete the frozen copy of an account that was moved',
      arguments: { account },
      description:
        'Deletes all rows of the account in this database: subjects, templates, the ledger, deletion records and the audit log. It requires a completed move. After an interruption, run it again.',
      run: async (values) => (await import('./moves.ts')).remove(values),
    }),
  ],
})
