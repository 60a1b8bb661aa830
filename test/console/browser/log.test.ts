import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

const rowHeightMaxPx = 40

describe('An owner explains calls in the request log', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let dialog: Locator
  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser()
    page = browser.page
    dialog = page.getByRole('dialog')
    const { gallery } = browser.testConsole
    await gallery.value('svc.enroll', imageParams({ name: 'Ada', take: 1 }))
    await gallery.call('svc.identify', imageParams({ name: 'Ada', take: 2 }))
    await gallery.call('svc.identify', imageParams('Zoe'))
    await gallery.call('svc.detect', imageParams())
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('A refused person is found and explained in three clicks', async () => {
    await browser.goto('/')
    await page.getByRole('link', { name: 'Request log', exact: true }).first().click()
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'no match' }).click()
    await page.getByText('1 rows on this page').or(page.getByText('1 row on this page')).waitFor()
    await page.getByRole('button', { name: /^Open svc.identify/u }).click()
    await dialog.getByText('Outcome', { exact: true }).waitFor()
    await dialog.getByText(/of 0\.80/u).waitFor()
    await browser.driver.inspect('log-outcome', 'light')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).searchParams.get('outcome'), 'no_match')
  })

  step(
    'The arrow keys open the other calls, and closing adds no entry to the history',
    async () => {
      await browser.goto('/log')
      await page.getByRole('button', { name: /^Open svc.detect/u }).click()
      await dialog.getByText('svc.detect', { exact: true }).waitFor()
      assert.ok(await dialog.getByRole('button', { name: 'Previous call (↑)' }).isDisabled())
      const entries = await page.evaluate('history.length')
      await page.keyboard.press('ArrowDown')
      await dialog.getByText('svc.identify', { exact: true }).waitFor()
      await dialog.getByText('no match', { exact: true }).waitFor()
      await page.keyboard.press('ArrowDown')
      await dialog.getByText('match', { exact: true }).waitFor()
      await page.keyboard.press('ArrowUp')
      await dialog.getByText('no match', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await page.evaluate('history.length'), entries)
    },
  )

  step('A failed call has a button for its remedy, and every row is one line', async () => {
    const rows = page.locator('tbody tr')
    assert.equal(await rows.count(), 4)
    for (const row of await rows.all()) {
      const { height } = (await row.boundingBox()) ?? { height: 0 }
      assert.ok(height > 0 && height <= rowHeightMaxPx, `${height} px`)
    }
    const { gallery, owner, projectId } = browser.testConsole
    const limits = { sustainedPerS: 1, burst: 1, switches: { billing: false } }
    await owner.send('PATCH', `/projects/${projectId}`, limits)
    for (let call = 0; call < 3; call++) await gallery.call('svc.detect', imageParams('Ada'))
    await browser.goto('/log?code=RATE_LIMITED')
    await page
      .getByRole('button', { name: /^Open svc.detect/u })
      .first()
      .click()
    await dialog.getByRole('link', { name: 'Raise the limit' }).click()
    await page.getByLabel(/^Sustained limit/u).waitFor()
  })
})
