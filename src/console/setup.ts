import { z } from 'zod'
import { HttpError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { addLink, endLink, findLink } from '../store/links.ts'
import type { Reading, Tx } from '../store/tx.ts'
import { addUser, changeUser, findUser, findUserByName, type User } from '../store/users.ts'
import { endSessionsOf } from '../store/sessions.ts'
import { name } from './fields.ts'
import { Invalid } from './invalid.ts'
import { defineWrite, noQuery, type ConsoleCall } from './route.ts'
import { refuseUnencrypted } from './same-origin.ts'
import { beginSession, password, session } from './session.ts'
import { hashToken, newToken } from './visitor.ts'

const linkMsMax = 24 * 3_600_000

/** Makes a link that sets a password once, within a day. @param userId whose; null: an owner's. */
export async function makeLink(tx: Tx, userId: string | null, nowMs: number): Promise<string> {
  const token = newToken()
  await addLink(tx, { tokenHash: hashToken(token), userId, expiresAtMs: nowMs + linkMsMax })
  return token
}

/**
 * The path of the link's page. What follows the # never leaves the browser, nor stands in a log.
 *
 * @param name of somebody who was invited; an owner says one there.
 */
export function linkPath(token: string, name?: string): string {
  return `/setup${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}#${token}`
}

/** Sets the password that a link is for: of the first owner, of somebody invited, of a lost one. */
export const setUp = defineWrite({
  method: 'POST',
  path: '/setup',
  who: 'stranger',
  act: 'session.setUp',
  query: noQuery,
  body: z.strictObject({ token: z.string().max(64), name: name.optional(), password }),
  answer: session,
  prepare: async ({ body, services, request }) => {
    refuseUnencrypted(request)
    try {
      await services.store.read((reading) => openLink(reading, body.token, services))
    } catch (error) {
      await services.strangers.turnAway(request.clientIp)
      throw error
    }
    return services.passwords.hash(body.password)
  },
  handle: async (call, { tx }) => {
    const { body, services, prepared } = call
    const { userId, tokenHash } = await openLink(tx, body.token, services)
    await endLink(tx, tokenHash)
    const user = userId === null ? await owner(tx, call) : await invited(tx, userId)
    await changeUser(tx, user.userId, { password: prepared, disabledAtUtc: null })
    await endSessionsOf(tx, user.userId)
    return {
      ...(await beginSession(tx, user, services)),
      target: user.userId,
      detail: { role: user.role },
    }
  },
})

/** @throws HttpError 404 when the link is unknown, used or over; nobody learns which. */
async function openLink(reading: Reading, token: string, { clock }: ConsoleCall['services']) {
  const found = await findLink(reading, hashToken(token), clock())
  if (found) return found
  throw new HttpError(404, 'This link is unknown, was used, or is over. Ask for a new one.')
}

type Setting = ConsoleCall<unknown, { readonly name?: string | undefined }>

/** The owner of that name, new or not: whoever can make such a link rules the machine anyway. */
async function owner(tx: Tx, { body, visitor, services }: Setting): Promise<User> {
  const { name } = body
  if (name === undefined) throw new Invalid([{ path: 'body.name', message: 'say a name' }])
  const known = await findUserByName(tx, name)
  if (known) {
    await changeUser(tx, known.userId, { role: 'owner' })
    return { ...known, role: 'owner' }
  }
  return newUser(tx, { name, role: 'owner', accountId: visitor.accountId }, services.clock())
}

async function invited(tx: Tx, userId: string): Promise<User> {
  const found = await findUser(tx, userId)
  if (!found) throw new Error('a link is of nobody')
  return found
}

/** A user without a password yet. */
export function newUser(
  tx: Tx,
  wanted: Pick<User, 'name' | 'role' | 'accountId'>,
  nowMs: number,
): Promise<User> {
  return addUser(tx, {
    ...wanted,
    userId: newId(),
    password: null,
    createdAtUtc: new Date(nowMs).toISOString(),
    lastSeenAtUtc: null,
    disabledAtUtc: null,
  })
}
