import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import {
  addInviteLink,
  removeInviteLink,
  findInviteLink,
} from '../../store/console/invite-links.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import {
  addUser,
  updateUser,
  findUser,
  findUserByName,
  type ConsoleUser,
} from '../../store/console/users.ts'
import { endUserSessions } from '../../store/console/sessions.ts'
import { name } from '../server/schemas.ts'
import { ValidationError } from '../server/validation-error.ts'
import { defineWrite, noQuery, type ConsoleContext } from '../server/route.ts'
import { requireSecureTransport } from './request-security.ts'
import { createSession, password, session } from './session.ts'
import { hashToken, generateToken } from './identity.ts'

const linkLifetimeMs = 24 * 3_600_000

/** Makes a link that sets a password once, within a day. @param userId whose; null: an owner's. */
export async function createSetupLink(
  tx: Tx,
  userId: string | null,
  nowMs: number,
): Promise<string> {
  const token = generateToken()
  await addInviteLink(tx, {
    tokenHash: hashToken(token),
    userId,
    expiresAtMs: nowMs + linkLifetimeMs,
  })
  return token
}

/**
 * The path of the link's page. What follows the # never leaves the browser, nor stands in a log.
 *
 * @param name of somebody who was invited; an owner says one there.
 */
export function setupLinkPath(token: string, name?: string): string {
  return `/setup${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}#${token}`
}

/** Sets the password that a link is for: of the first owner, of somebody invited, of a lost one. */
export const setUp = defineWrite({
  method: 'POST',
  path: '/setup',
  minimumRole: 'stranger',
  auditAction: 'session.setUp',
  query: noQuery,
  body: z.strictObject({ token: z.string().max(64), name: name.optional(), password }),
  response: session,
  prepare: async ({ body, services, request }) => {
    requireSecureTransport(request)
    try {
      await services.store.read((reading) => requireLink(reading, body.token, services))
    } catch (error) {
      await services.authThrottle.recordFailure(request.clientIp)
      throw error
    }
    return services.passwordHasher.hash(body.password)
  },
  handle: async (call, { tx }) => {
    const { body, services, prepared } = call
    const { userId, tokenHash } = await requireLink(tx, body.token, services)
    await removeInviteLink(tx, tokenHash)
    const user =
      userId === null ? await findOrCreateOwner(tx, call) : await requireInvitedUser(tx, userId)
    await updateUser(tx, user.userId, { password: prepared, disabledAtUtc: null })
    await endUserSessions(tx, user.userId)
    return {
      ...(await createSession(tx, user, services)),
      target: user.userId,
      detail: { role: user.role },
    }
  },
})

/** @throws HttpError 404 when the link is unknown, used or over; nobody learns which. */
async function requireLink(reading: ReadTx, token: string, { clock }: ConsoleContext['services']) {
  const found = await findInviteLink(reading, hashToken(token), clock())
  if (found) return found
  throw new HttpError(404, 'This link is unknown, was used, or is over. Ask for a new one.')
}

type SetUpContext = ConsoleContext<unknown, { readonly name?: string | undefined }>

/** The owner of that name, new or not: whoever can make such a link rules the machine anyway. */
async function findOrCreateOwner(
  tx: Tx,
  { body, identity: visitor, services }: SetUpContext,
): Promise<ConsoleUser> {
  const { name } = body
  if (name === undefined) throw new ValidationError([{ path: 'body.name', message: 'say a name' }])
  const known = await findUserByName(tx, name)
  if (known) {
    await updateUser(tx, known.userId, { role: 'owner' })
    return { ...known, role: 'owner' }
  }
  return addUserWithoutPassword(
    tx,
    { name, role: 'owner', accountId: visitor.accountId },
    services.clock(),
  )
}

async function requireInvitedUser(tx: Tx, userId: string): Promise<ConsoleUser> {
  const found = await findUser(tx, userId)
  if (!found) throw new Error('a link is of nobody')
  return found
}

/** A user without a password yet. */
export function addUserWithoutPassword(
  tx: Tx,
  wanted: Pick<ConsoleUser, 'name' | 'role' | 'accountId'>,
  nowMs: number,
): Promise<ConsoleUser> {
  return addUser(tx, {
    ...wanted,
    userId: newId(),
    password: null,
    createdAtUtc: new Date(nowMs).toISOString(),
    lastSeenAtUtc: null,
    disabledAtUtc: null,
  })
}
