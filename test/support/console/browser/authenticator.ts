import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { ConsoleDriver } from './console-driver.ts'

/** The period of a code, ms. */
export const timeStepMs = 30_000

/** Returns the code of an authenticator app, computed without the library of the service. */
export function authenticatorCode(secretBase32: string, nowMs: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(secretBase32)
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from((bits.match(/.{8}/gu) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / timeStepMs)))
  const hash = createHmac('sha1', key).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Enables the second factor on the account page. Returns the secret. */
export async function enableSecondFactor(
  page: Page,
  driver: ConsoleDriver,
  password: string,
): Promise<string> {
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Account and sessions' }).click()
  await driver.waitForHeading('Account')
  await page.getByRole('button', { name: 'Enable second factor' }).click()
  await dialog.getByLabel(/^Current password/u).fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('img', { name: 'QR code of the secret' }).waitFor()
  await driver.inspect('second-factor', 'light')
  const secret = (await dialog.locator('pre').innerText()).trim()
  await dialog.getByLabel(/^Code/u).fill(authenticatorCode(secret, Date.now()))
  await dialog.getByRole('button', { name: 'Enable', exact: true }).click()
  await dialog.getByLabel('I have stored them').check()
  await driver.inspect('recovery-codes', 'light')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('10 recovery codes are left').waitFor()
  return secret
}

/** Fills the sign-in form, then the code of the next period: the current one may have been used. */
export async function signInWithCode(
  page: Page,
  user: { readonly name: string; readonly password: string; readonly secret: string },
): Promise<void> {
  await page.getByLabel('Name').fill(user.name)
  await page.getByLabel(/^Password(?: \*)?$/u).fill(user.password)
  await page.keyboard.press('Enter')
  const code = authenticatorCode(user.secret, Date.now() + timeStepMs)
  await page.getByLabel(/^Code/u).fill(code)
  await page.keyboard.press('Enter')
}

export async function signOut(page: Page, driver: ConsoleDriver): Promise<void> {
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await driver.waitForHeading('Sign in')
}
