import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { requireFirstAccount } from '../../server/first-account.ts'
import type { ModelCommandReport, ModelCommands } from '../../services.ts'

/** Commands of `facegate models`. The models serve all accounts: owners of the first one change them. */

/** A name or a value. As a file it is in the folder of incoming files: no part begins with a dot. */
const argument = z
  .string()
  .max(255)
  .regex(
    /^\w(?:[^/\\\p{Cc}]|\/(?=\w))*$/u,
    'must begin with a letter or a digit, as after each /, and contain no \\',
  )

/** The command line checks the names and the values further. */
const modelCommand = z.strictObject({
  command: z.enum(['install', 'use', 'verify', 'remove', 'retire', 'qualify']),
  target: argument.optional(),
  options: z
    .record(
      z.string().regex(/^[a-z]+(?:-[a-z]+)*$/u, 'must be an option of the command'),
      z.union([z.boolean(), z.int(), argument]),
    )
    .default({}),
})

const path = '/models/command'

/** Returns the last command of this server, and the files that the operator placed for the next ones. */
export const getModelCommand = defineRead(path, {
  minimumRole: 'owner',
  response: z.custom<ModelCommandReport>(),
  handle: async (call) => (await requireModelCommands(call)).report(),
})

async function requireModelCommands(call: ConsoleContext): Promise<ModelCommands> {
  await requireFirstAccount(call, 'change the models')
  return call.services.modelCommands
}

/** @throws HttpError 409 while another command runs on this server. */
export const startModelCommand = defineWrite(path, {
  minimumRole: 'owner',
  auditAction: 'models.startCommand',
  isDoneByPrepare: true,
  body: modelCommand,
  prepare: async (call) => {
    const { start } = await requireModelCommands(call)
    const run = await start(call.body, call.identity.name)
    if (!run) throw new HttpError(409, 'Another command changes the models. Wait until it ends.')
    return run
  },
  handle: async ({ prepared }) => ({ response: undefined, target: prepared.commandLine }),
})

/**
 * Ends a running command, and deletes the output of one that has ended.
 *
 * @throws HttpError 409 if this server has none.
 */
export const discardModelCommand = defineWrite(path, {
  method: 'DELETE',
  minimumRole: 'owner',
  auditAction: 'models.discardCommand',
  isDoneByPrepare: true,
  prepare: async (call) => {
    const discarded = await (await requireModelCommands(call)).discard()
    if (!discarded) throw new HttpError(409, 'This server has no command.')
    return discarded
  },
  handle: async ({ prepared }) => ({ response: undefined, target: prepared.commandLine }),
})
