import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { inspectDialog } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import {
  accept,
  respondWith,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhooks/webhook-receiver.ts'
import { webhookSettings } from '../../support/webhooks/webhook-settings.ts'

const rowHeightMaxPx = 40

describe(
  'An owner explains calls, repairs a webhook and searches',
  { skip: skipWithoutBrowser },
  () => {
    let browser: ConsoleBrowser
    let page: Page
    let dialog: Locator
    let receiver: WebhookReceiver
    const step = sequentialTests()

    before(async () => {
      receiver = await startWebhookReceiver()
      browser = await openConsoleBrowser({ environment: webhookSettings })
      page = browser.page
      dialog = page.getByRole('dialog')
      const { gallery } = browser.testConsole
      const ada = { ...imageParams({ name: 'Ada', take: 1 }), displayName: 'Ada Berg' }
      await gallery.value('svc.enroll', ada)
      await gallery.call('svc.identify', imageParams({ name: 'Ada', take: 2 }))
      await gallery.call('svc.identify', imageParams('Zoe'))
      await gallery.call('svc.detect', imageParams())
    })
    after(async () => {
      await browser?.[Symbol.asyncDispose]()
      await receiver?.[Symbol.asyncDispose]()
    })

    step('A refused person is found and explained in three clicks', async () => {
      await browser.goto('/')
      await page.getByRole('link', { name: 'Request log', exact: true }).first().click()
      await page.getByRole('combobox', { name: 'Outcome' }).click()
      await page.getByRole('option', { name: 'no match' }).click()
      await page.getByText('1 rows on this page').or(page.getByText('1 row on this page')).waitFor()
      await page.getByRole('button', { name: /^Open svc.identify/u }).click()
      await dialog.getByText('Outcome', { exact: true }).waitFor()
      await dialog.getByText(/^0\.\d{3} < 0\.80$/u).waitFor()
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

    step(
      'Each row is one line with its actions, and a failed call has a button for its remedy',
      async () => {
        const rows = page.locator('tbody tr')
        assert.equal(await rows.count(), 4)
        for (const row of await rows.all()) {
          const { height } = (await row.boundingBox()) ?? { height: 0 }
          assert.ok(height > 0 && height <= rowHeightMaxPx, `${height} px`)
        }
        await rows.nth(1).hover()
        await rows.nth(1).getByRole('link', { name: 'Calls of this key' }).waitFor()
        await browser.driver.inspectSchemes('log-row-actions')
        for (const row of await rows.all()) {
          const { height } = (await row.boundingBox()) ?? { height: 0 }
          assert.ok(height <= rowHeightMaxPx, `${height} px with its actions`)
        }
        await page.getByRole('heading', { level: 1 }).hover()
        await rows.nth(1).getByRole('link').first().waitFor({ state: 'detached' })
        await page.getByRole('button', { name: /^Open svc.detect/u }).focus()
        const firstAction = rows.first().getByRole('button', { name: 'Copy request id' })
        await firstAction.waitFor()
        await page.keyboard.press('Tab')
        assert.equal(await page.locator(':focus').innerText(), 'Copy request id')
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await browser.driver.waitForHeading('Playground')
        const { gallery, owner, projectId } = browser.testConsole
        const limits = { sustainedPerS: 1, burst: 1, switches: { billing: false } }
        await owner.send('PATCH', `/projects/${projectId}`, limits)
        for (let call = 0; call < 3; call++) await gallery.call('svc.detect', imageParams('Ada'))
        await browser.goto('/log?code=RATE_LIMITED')
        await page
          .getByRole('button', { name: /^Open svc.detect/u })
          .first()
          .click()
        await dialog.getByText('Rate limited', { exact: true }).waitFor()
        await dialog.getByRole('link', { name: 'Raise the limit' }).click()
        await page.getByLabel(/^Sustained limit/u).waitFor()
      },
    )

    step(
      'A webhook that fails shows the cause, and a test event shows that it is repaired',
      async () => {
        receiver.respond(respondWith(503))
        await browser.goto('/webhooks')
        await page.getByRole('button', { name: 'Create webhook' }).first().click()
        await dialog.getByLabel('URL').fill(`${receiver.url}/console`)
        await dialog.getByRole('checkbox', { name: /^identify\.matched/u }).check()
        await dialog.getByLabel('Minimum similarity').fill('0.9')
        await dialog.getByRole('button', { name: 'Create webhook' }).click()
        await dialog.getByLabel('I have copied it').check()
        await dialog.getByRole('button', { name: 'Done' }).click()
        await page.getByText('similarity from 0.9').waitFor()
        await page.getByRole('button', { name: /^Open http/u }).click()
        await dialog.getByRole('button', { name: 'Send test event' }).click()
        await dialog.getByText('Test event not delivered').waitFor()
        await dialog.getByText('status 503.').waitFor()
        const deliveries = page.getByRole('region', { name: 'Deliveries' })
        await deliveries.getByText(/^next at /u).waitFor()
        const sizes = await deliveries.evaluate((list) => [list.scrollWidth, list.clientWidth])
        assert.ok(sizes[0]! <= sizes[1]! + 1, `${sizes.join(' > ')} px: no column is covered`)
        await inspectDialog(page, browser.driver, 'webhook-failing')
        receiver.respond(accept)
        await dialog.getByRole('button', { name: 'Send test event' }).click()
        await dialog.getByText('Test event delivered').waitFor()
        await dialog.getByText(/: status 204$/u).waitFor()
        await dialog.getByRole('button', { name: 'Edit events' }).click()
        const editor = page.getByRole('dialog', { name: 'Edit events' })
        await editor.getByRole('checkbox', { name: /^identify\.matched/u }).uncheck()
        await editor.getByRole('button', { name: 'Save events' }).click()
        await editor.waitFor({ state: 'detached' })
        await dialog.getByRole('combobox', { name: 'Event', exact: true }).click()
        await page.getByRole('option', { name: 'webhook.test' }).click()
        await dialog.getByRole('button', { name: 'Open the data of webhook.test' }).first().click()
        await page
          .getByLabel(/^data of evt_/u)
          .getByText('webhookId')
          .waitFor()
        assert.deepEqual(browser.driver.violations, [])
      },
    )

    step('The live page shows each call as a tile of its key, which opens it', async () => {
      const { gallery } = browser.testConsole
      await browser.goto('/live')
      const tiles = page.getByRole('region', { name: /^Calls of / }).getByRole('listitem')
      await tiles.getByText('no match').waitFor()
      await inspectDialog(page, browser.driver, 'live')
      const before = await tiles.count()
      await gallery.call('svc.identify', imageParams({ name: 'Ada', take: 2 }))
      await tiles.nth(before).waitFor()
      await tiles.first().getByRole('link').click()
      await dialog.getByText('svc.identify', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    })

    step(
      'Ctrl K finds a page, a person, a key, a call and the documentation, and opens them',
      async () => {
        const { gallery } = browser.testConsole
        const { body } = await gallery.call('svc.detect', imageParams('Ada'))
        await browser.goto('/')
        const find = async (text: string) => {
          await page.keyboard.press('Control+k')
          await dialog.getByLabel('Search').fill(text)
        }
        await find('deletion')
        await dialog.getByText('Deletion ledger').waitFor()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await browser.driver.waitForHeading('Deletion ledger')
        await find('Ada')
        await dialog.getByRole('button', { name: /^Ada/u }).waitFor()
        await inspectDialog(page, browser.driver, 'search')
        await dialog.getByRole('button', { name: /^Ada/u }).click()
        await dialog.getByRole('heading', { name: 'Subject', exact: true }).waitFor()
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        const requestId: string = body.requestId.slice(0, 8)
        await find(requestId)
        await dialog.getByRole('button', { name: `svc.detect ${requestId}` }).click()
        await dialog.getByText('svc.detect', { exact: true }).waitFor()
        await page.keyboard.press('Escape')
        const [{ last4 }] = assertOk(await browser.testConsole.owner.get('/keys')).body.items
        await find(last4)
        await dialog.getByRole('button', { name: new RegExp(`…${last4} · active$`, 'u') }).waitFor()
        await dialog.getByLabel('Search').fill('webhook signature')
        const [site] = await Promise.all([
          page.context().waitForEvent('page'),
          dialog
            .getByRole('button', { name: /webhooks?/iu })
            .first()
            .click(),
        ])
        await site.waitForURL(/\/docs\/\S+\.html/u)
        await site.getByRole('heading', { level: 1 }).waitFor()
        await site.close()
        await page.keyboard.press('Control+k')
        await dialog.getByLabel('Search').fill('zzqqxxyy')
        await dialog.getByText('Nothing found').waitFor()
        assert.deepEqual(browser.driver.violations, [])
      },
    )
  },
)
