import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { fitsWidth, skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import { loadingSelector } from '../../../support/console/browser/console-pages.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { assertOk } from '../../../support/console/test-console.ts'
import { enrollPerson, identify, pictureOf } from '../../../support/gallery/feedback.ts'

describe(
  'An owner confirms and denies matches in the request log',
  { skip: skipWithoutBrowser },
  () => {
    let browser: ConsoleBrowser
    let page: Page
    let dialog: Locator
    let beforeFeedback: string
    let requestId: string
    const step = sequentialTests()

    before(async () => {
      browser = await openConsoleBrowser()
      page = browser.page
      dialog = page.getByRole('dialog')
      const { gallery, owner, projectId } = browser.testConsole
      const fields = { displayName: 'Ann Berg', groups: ['staff'] }
      await enrollPerson(gallery, 'Ann', fields)
      beforeFeedback = (await identify(gallery, pictureOf('Ann', 1))).requestId
      const change = { switches: { feedback: true } }
      assertOk(await owner.send('PATCH', `/projects/${projectId}`, change))
      requestId = (await identify(gallery, pictureOf('Bea', 0))).requestId
    })
    after(() => browser?.[Symbol.asyncDispose]())

    const match = () => dialog.getByRole('region', { name: 'Match with Ann Berg' })
    const button = (name: string) => match().getByRole('button', { name })

    async function openCall(id: string, of: Page = page): Promise<void> {
      const { owner, url } = browser.testConsole
      const { items } = assertOk(await owner.get(`/log?requestId=${id}`)).body
      await of.goto(`${url}/log?call=${items[0].callId}`)
      await of.getByRole('dialog').getByText(id).waitFor()
    }

    step('A denied match is marked, keeps the focus, and does not match again', async () => {
      await openCall(requestId)
      await dialog.getByText('Is this the right person?').waitFor()
      await browser.driver.inspectSchemes('call-feedback')
      await button('Not this person').focus()
      await page.keyboard.press('Enter')
      await match().getByRole('status').getByText('Denied.').waitFor()
      assert.equal(await button('Not this person').getAttribute('aria-pressed'), 'true')
      assert.equal(await page.locator(':focus').innerText(), 'Not this person')
      await browser.driver.inspectSchemes('call-feedback-denied')
      const { gallery, owner } = browser.testConsole
      assert.equal((await identify(gallery, pictureOf('Bea', 1))).value.matched, false)
      const [entry] = assertOk(await owner.get('/audit?limit=1')).body.items
      assert.equal(entry.auditAction, 'match.decide')
    })

    step('A viewer sees the verdict without buttons', async () => {
      const client = await browser.testConsole.inviteMember('viewer')
      const viewer = await browser.openPage(client)
      await openCall(requestId, viewer)
      const shown = viewer.getByRole('region', { name: 'Match with Ann Berg' })
      await shown.getByText('denied', { exact: true }).waitFor()
      assert.equal(await shown.getByRole('button').count(), 0)
    })

    step('A confirmation ends the denial and is final', async () => {
      await openCall(requestId)
      await button('Confirm').click()
      await match().getByRole('status').getByText('Confirmed.').waitFor()
      await button('Not this person').waitFor({ state: 'detached' })
      const { gallery } = browser.testConsole
      assert.equal((await identify(gallery, pictureOf('Bea', 1))).value.matched, true)
    })

    step('A match that cannot be decided states the reason', async () => {
      await openCall(beforeFeedback)
      await dialog.getByText(/feedback was off at the time of the call/u).waitFor()
      const { owner, projectId } = browser.testConsole
      const change = { switches: { feedback: false } }
      assertOk(await owner.send('PATCH', `/projects/${projectId}`, change))
      await openCall(beforeFeedback)
      await dialog.getByText(/because feedback is off in its project/u).waitFor()
      await browser.driver.inspect('call-without-feedback', 'light')
      await dialog.getByRole('link', { name: 'Switch feedback on' }).click()
      await page.getByRole('switch', { name: 'Feedback' }).waitFor()
    })

    step('The analytics page counts the verdicts, also on a phone', async () => {
      await page.setViewportSize(phoneViewport)
      await browser.goto('/analytics')
      await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
      const byGroup = page.getByRole('table', { name: 'Feedback by group' })
      const row = byGroup.getByRole('row').filter({ hasText: 'staff' })
      await row.getByText('0 % to 79.3 %').waitFor()
      assert.ok(await fitsWidth(page, phoneViewport.width))
      await browser.driver.inspectSchemes('analytics-feedback-phone')
      await browser.goto('/analytics?period=1h&projectId=00000000-0000-4000-8000-000000000000')
      await page.getByText(/^No feedback in this period/u).waitFor()
      const { driver, pageErrors } = browser
      assert.deepEqual([driver.violations, pageErrors.messages], [[], []])
    })
  },
)
