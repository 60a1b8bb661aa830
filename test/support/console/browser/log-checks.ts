import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { TestClient } from '../../facegate/test-facegate.ts'
import type { ConsoleDriver } from './console-driver.ts'

/**
 * Opens the log from a bar of the overview, lets a call fail while the log is open, and reads why it
 * failed: by the row, by the first characters of its request id, and with the keyboard.
 */
export async function explainFailedCall(
  page: Page,
  driver: ConsoleDriver,
  client: TestClient,
): Promise<void> {
  await page.locator('a.fg-chart-mark').last().click()
  await driver.waitForHeading('Request log')
  const search = new URL(page.url()).searchParams
  const hours = Date.parse(search.get('toUtc') ?? '') - Date.parse(search.get('fromUtc') ?? '')
  assert.deepEqual([hours, search.get('result')], [3_600_000, 'ok'])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('combobox', { name: 'Refresh', exact: true }).click()
  const refreshed = page.waitForResponse((response) => /\/log(?:\?|$)/u.test(response.url()))
  await page.getByRole('option', { name: 'Live (2 s)' }).click()
  await refreshed
  const requestId = randomUUID()
  await client.post({ requestId, action: 'svc.detect', params: { maxFaces: 0 } })
  await page.getByText('1 new call').waitFor()
  await page.getByRole('textbox', { name: 'Request id' }).fill(requestId.slice(0, 8))
  await page.getByText('1 row on this page').waitFor()
  await page.getByRole('row').getByText('Invalid request').click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText('params.maxFaces', { exact: true }).waitFor()
  await drawer.getByRole('button', { name: 'Copy request id' }).waitFor()
  await driver.inspect('log-failed-call', 'light')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row').nth(4).waitFor()
  await page
    .getByRole('button', { name: /^Open svc/u })
    .first()
    .focus()
  await page.keyboard.press('ArrowDown')
  assert.match((await page.locator(':focus').getAttribute('aria-label')) ?? '', /^Open svc/u)
  await page.keyboard.press('Enter')
  await drawer.getByText('View charge in ledger').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
}
