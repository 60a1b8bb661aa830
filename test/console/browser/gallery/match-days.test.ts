import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { dayMs, dayOf, formatUtc } from '../../../../src/lib/clock.ts'
import { skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import { inspectPage } from '../../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { personPicture, pictureVision } from '../../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../../support/console/test-console.ts'

const title = 'Matches per day'
const setting = 'Count matches per day'

describe('An owner sees on which days a person was matched', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let dialog: Locator
  let subjectId: string
  let images: readonly object[]
  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    page = browser.page
    dialog = page.getByRole('dialog')
    const bytes = (await personPicture({ name: 'Ann' })).toString('base64')
    images = [{ kind: 'image', bytes, contentType: 'image/jpeg' }]
    const enrolled = await browser.testConsole.gallery.value('svc.enroll', { images })
    ;({ subjectId } = enrolled)
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const region = (of: Page = page) => of.getByRole('region', { name: title })

  async function openPerson(of: Page = page): Promise<void> {
    const { projectId, url } = browser.testConsole
    await of.goto(`${url}/subjects?projectId=${projectId}&subject=${subjectId}`)
    await region(of).waitFor()
  }

  /** Counts matches on a day, as calls of that day do. */
  const addDay = (daysAgo: number, matches: number) =>
    browser.testConsole.gallery.database.store.db
      .insertInto('matchDays')
      .values({
        subjectId,
        projectId: browser.testConsole.projectId,
        day: dayOf(formatUtc(Date.now() - daysAgo * dayMs)),
        matches,
      })
      .execute()

  step('While nothing is counted, the page names the setting and links to it', async () => {
    await openPerson()
    await region()
      .getByText(/does not count the matches of a person/u)
      .waitFor()
    const viewer = await browser.openPage(await browser.testConsole.inviteMember('viewer'))
    await openPerson(viewer)
    await region(viewer).getByText(setting).waitFor()
    assert.equal(await region(viewer).getByRole('link').count(), 0)
    await region().getByRole('link', { name: setting }).click()
    await page.getByRole('switch', { name: setting }).click()
    await page.getByText(`${setting} is on.`).waitFor()
    await openPerson()
    await region().getByText('No call matched this person in the last 90 days.').waitFor()
  })

  step('The days are a chart and a table, in both schemes and on a phone', async () => {
    const { gallery } = browser.testConsole
    for (let call = 0; call < 3; call++) await gallery.value('svc.identify', { images })
    for (const [daysAgo, matches] of [
      [2, 5],
      [30, 1],
      [88, 2],
    ] as const)
      await addDay(daysAgo, matches)
    await openPerson()
    await region().getByText('11 calls matched this person on 4 days of the last 90.').waitFor()
    const chart = region().getByRole('figure', { name: 'Matches per day of the last 90 days, UTC' })
    await chart.waitFor()
    assert.equal(await chart.locator('.fg-chart-mark').count(), 4)
    await region().getByText('Matches per day as a table').click()
    const rows = region().getByRole('row')
    await rows.nth(1).waitFor()
    assert.equal(await rows.count(), 5)
    assert.match(await rows.nth(2).innerText(), /5$/u)
    await chart.scrollIntoViewIfNeeded()
    await inspectPage(page, browser.driver, 'match-days')
    assert.deepEqual(browser.driver.violations, [])
    await page.setViewportSize(desktopViewport)
  })

  step('Off requires the name of the project and deletes the counts', async () => {
    const { owner, projectId } = browser.testConsole
    const { name } = assertOk(await owner.get(`/projects/${projectId}`)).body
    await browser.goto(`/projects/${projectId}`)
    await page.getByRole('switch', { name: setting }).click()
    await dialog.getByText(/deletes the matches per day of all people/u).waitFor()
    await browser.driver.inspectSchemes('stop-counting-matches')
    await dialog.getByRole('textbox').fill(name)
    await dialog.getByRole('button', { name: 'Delete the counts' }).click()
    await page.getByText(/The counts were deleted/u).waitFor()
    const rows = browser.testConsole.gallery.database.store.db.selectFrom('matchDays')
    assert.deepEqual(await rows.selectAll().execute(), [])
    await page.getByRole('button', { name: 'Count matches again' }).click()
    await page.getByText(/counted again, from now on/u).waitFor()
    await openPerson()
    await region().getByText('No call matched this person in the last 90 days.').waitFor()
    assert.deepEqual(browser.driver.violations, [])
  })
})
