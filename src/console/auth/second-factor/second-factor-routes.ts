import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import {
  countRecoveryCodes,
  removeSecondFactor as deleteSecondFactor,
} from '../../../store/console/second-factors.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { invalidField } from '../../server/input.ts'
import { checkOwnPassword } from '../check-password.ts'

/** Each change of the second factor requires the password, because a session may be unattended. */
const passwordBody = z.strictObject({ password: z.string().max(256) })

const recoveryCodes = z.array(z.string()).readonly().meta({
  description: 'Each code replaces the authenticator app once. They are shown only now.',
})

export const getSecondFactor = defineRead('/second-factor', {
  response: z.object({ isEnabled: z.boolean(), recoveryCodesLeft: z.int() }),
  handle: ({ identity, services: { store, secondFactors } }) => {
    const userId = identity.userId ?? ''
    return store.read(async (tx) => ({
      isEnabled: await secondFactors.isRequired(tx, userId),
      recoveryCodesLeft: await countRecoveryCodes(tx, userId),
    }))
  },
})

/** Creates the secret. Sign-in requires a code from `confirmSecondFactor` on. */
export const beginSecondFactor = defineWrite('/second-factor', {
  minimumRole: 'viewer',
  auditAction: 'secondFactor.begin',
  body: passwordBody,
  response: z.object({
    secret: z.string().meta({ description: 'Base32, to type into the app.' }),
    uri: z.string().meta({ description: 'The content of the QR code.' }),
  }),
  prepare: requirePassword,
  handle: async ({ identity: { name, ...identity }, services }, { tx }) => {
    const userId = identity.userId ?? ''
    if (await services.secondFactors.isRequired(tx, userId))
      throw new HttpError(409, 'The second factor is enabled already. Remove it first.')
    return { response: await services.secondFactors.begin(tx, { userId, name }), target: userId }
  },
})

export const confirmSecondFactor = defineWrite('/second-factor/confirm', {
  minimumRole: 'viewer',
  auditAction: 'secondFactor.enable',
  body: z.strictObject({ code: z.string().max(64) }),
  response: z.object({ recoveryCodes }),
  handle: async ({ body, identity, services }, { tx }) => {
    const userId = identity.userId ?? ''
    if (await services.secondFactors.isRequired(tx, userId))
      throw new HttpError(409, 'The second factor is enabled already.')
    const attempt = { userId, code: body.code, nowMs: services.clock() }
    const codes = await services.secondFactors.confirm(tx, attempt)
    if (codes) return { response: { recoveryCodes: codes }, target: userId }
    const message =
      'must be the current code of the app. Check that the clock of the phone is right.'
    throw invalidField('body.code', message)
  },
})

export const renewRecoveryCodes = defineWrite('/second-factor/recovery-codes', {
  minimumRole: 'viewer',
  auditAction: 'secondFactor.renewRecoveryCodes',
  body: passwordBody,
  response: z.object({ recoveryCodes }),
  prepare: requirePassword,
  handle: async ({ identity, services }, { tx }) => {
    const userId = identity.userId ?? ''
    if (!(await services.secondFactors.isRequired(tx, userId)))
      throw new HttpError(409, 'Enable the second factor first.')
    const codes = await services.secondFactors.renewRecoveryCodes(tx, userId)
    return { response: { recoveryCodes: codes }, target: userId }
  },
})

export const removeSecondFactor = defineWrite('/second-factor/remove', {
  minimumRole: 'viewer',
  auditAction: 'secondFactor.remove',
  body: passwordBody,
  prepare: requirePassword,
  handle: async ({ identity }, { tx }) => {
    const userId = identity.userId ?? ''
    await deleteSecondFactor(tx, userId)
    return { response: undefined, target: userId }
  },
})

function requirePassword(call: ConsoleContext<unknown, z.output<typeof passwordBody>>) {
  return checkOwnPassword(call, call.body.password, 'secondFactor.passwordFailed')
}
