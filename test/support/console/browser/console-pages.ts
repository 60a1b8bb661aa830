import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { stepTimeoutMs } from './chromium.ts'

/** The elements that a page shows while it loads. */
export const loadingSelector = '[aria-busy=true], .mantine-Skeleton-root'

/** Every page of the console: the name of its screenshots and its path. */
export const consolePages = [
  ['overview', '/'],
  ['live', '/live'],
  ['log', '/log'],
  ['analytics', '/analytics'],
  ['playground', '/playground'],
  ['pair-tester', '/pair-tester'],
  ['subjects', '/subjects'],
  ['gallery-health', '/gallery-health'],
  ['groups', '/groups'],
  ['deletions', '/deletions'],
  ['projects', '/projects'],
  ['keys', '/keys'],
  ['webhooks', '/webhooks'],
  ['money', '/money'],
  ['ledger', '/money/ledger'],
  ['models', '/models'],
  ['team', '/team'],
  ['audit', '/team/audit'],
  ['system', '/system'],
  ['account', '/account'],
] as const

/**
 * Opens another page of the console as a link does: the application stays loaded, which takes a fifth
 * of the processor time. The first page, and a page of the same path, whose title would not change, are loaded.
 */
export async function openPage(page: Page, address: string): Promise<void> {
  const { origin, pathname } = new URL(page.url())
  const wanted = new URL(address)
  if (origin !== wanted.origin || pathname === wanted.pathname)
    return void (await page.goto(address))
  await page.evaluate(
    `document.title = ''; history.pushState(null, '', ${JSON.stringify(address)})`,
  )
  for (const endMs = Date.now() + stepTimeoutMs; (await page.title()) === ''; await setTimeout(20))
    if (Date.now() > endMs) throw new Error(`${address} was not opened`)
}
