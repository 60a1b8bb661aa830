import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { fitsWidth, skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { loadingSelector } from '../../support/console/browser/console-pages.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { assertOk } from '../../support/console/test-console.ts'

const callCount = 130
const lists = [
  ['log', '/log'],
  ['keys', '/keys'],
  ['deletions', '/deletions'],
  ['audit', '/team/audit'],
  ['projects', '/projects'],
  ['team', '/team'],
] as const
const emptyLists = [
  ['log', 'No calls yet'],
  ['keys', 'No API keys'],
  ['groups', 'No groups'],
  ['deletions', 'No deletions'],
  ['money/ledger', 'No transfers yet'],
  ['subjects', 'No subjects yet'],
] as const
const projectPages = ['/subjects', '/groups', '/playground'] as const

describe('An owner works with lists over several projects', { skip: skipWithoutBrowser }, () => {
  let opened: ConsoleBrowser
  let page: Page

  const step = sequentialTests()

  before(async () => {
    opened = await openConsoleBrowser()
    page = opened.page
    const { owner, projectId, gallery } = opened.testConsole
    assertOk(await owner.send('POST', '/projects', { name: 'door', galleryMode: 'isolated' }))
    const permissions = ['svc.detect']
    for (const name of ['gate', 'app'])
      assertOk(await owner.send('POST', '/keys', { projectId, name, permissions }))
    const [{ keyId }] = (await owner.get('/keys')).body.items
    await fillCalls(gallery.database.store, { projectId, keyId, count: callCount })
  })

  after(() => opened?.[Symbol.asyncDispose]())

  step('The log opens next and previous pages, and the address keeps the page', async () => {
    await opened.goto('/log')
    await page.getByText('50 rows on this page, 130 in total').waitFor()
    const firstRow = (latency: string) => page.getByRole('row').nth(1).getByText(latency).waitFor()
    await firstRow('1.00 ms')
    await page.getByRole('button', { name: 'Next page' }).click()
    await firstRow('51.0 ms')
    await page.reload()
    await firstRow('51.0 ms')
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('30 rows on this page, 130 in total').waitFor()
    const previous = page.getByRole('button', { name: 'Previous page' })
    await previous.and(page.locator(':focus')).waitFor()
    await previous.click()
    await firstRow('51.0 ms')
    await page.getByRole('button', { name: 'Previous page' }).click()
    await firstRow('1.00 ms')
    assert.ok(await page.getByRole('button', { name: 'Previous page' }).isDisabled())
  })

  step('A header sorts the log, and the rows per page and the period stay chosen', async () => {
    await page.getByRole('button', { name: 'Latency' }).click()
    await page.waitForURL(/sort=-latency/u)
    await page
      .getByRole('columnheader', { name: 'Latency' })
      .and(page.locator('[aria-sort]'))
      .waitFor()
    await page.getByRole('row').nth(1).getByText('130 ms').waitFor()
    await page.getByRole('button', { name: 'Latency' }).click()
    await page.getByRole('row').nth(1).getByText('1.00 ms').waitFor()
    await page.getByRole('combobox', { name: 'Rows per page' }).selectOption('100')
    await page.getByText('100 rows on this page').waitFor()
    await page.getByRole('combobox', { name: 'Period' }).click()
    await page.getByRole('option', { name: 'Last 24 hours' }).click()
    await page.waitForURL(/period=24h/u)
    await page.reload()
    await page.getByText('100 rows on this page, 130 in total').waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Period' }).inputValue(), 'Last 24 hours')
    assert.equal(
      await page.getByLabel('From (UTC)').count(),
      0,
      'a preset is not turned into dates',
    )
    const sorted = page.locator('th[aria-sort=ascending]')
    assert.equal(await sorted.innerText(), 'LATENCY')
  })

  step('A page of one project requires its choice, and takes no project silently', async () => {
    for (const path of projectPages) {
      await opened.goto(path)
      const picker = page.getByRole('combobox', { name: 'Choose a project' })
      await picker.waitFor()
      assert.equal(await page.getByText('Project: ').count(), 0)
      await picker.click()
      await page.getByRole('option', { name: 'door' }).click()
      await page.getByText('Project: door').waitFor()
      assert.equal(
        await page.getByRole('combobox', { name: 'Project', exact: true }).inputValue(),
        'door',
      )
    }
    await opened.driver.inspect('playground-of-project', 'light')
    await page.goto(`${opened.testConsole.url}/subjects?projectId=unknown`)
    await page.getByText('The account has no project with the id').waitFor()
    assert.equal(
      await page.getByRole('combobox', { name: 'Project', exact: true }).inputValue(),
      'Unknown project',
    )
    await opened.goto('/keys')
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('new key')
    assert.equal(await dialog.getByRole('combobox', { name: 'Project' }).inputValue(), '')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.locator('.mantine-Select-error', { hasText: 'Choose a project' }).waitFor()
    await opened.goto(`/money?projectId=${opened.testConsole.projectId}`)
    await page.getByRole('note').getByText('This page shows all projects.').waitFor()
  })

  step('An empty list offers no filters, and with a filter it states how to see all', async () => {
    const { owner } = opened.testConsole
    const { items } = assertOk(await owner.get('/projects')).body
    const { projectId } = items.find(({ name }: { readonly name: string }) => name === 'door')
    for (const [path, text] of emptyLists) {
      await opened.goto(`/${path}?projectId=${projectId}`)
      await page.getByText(text, { exact: true }).waitFor()
      assert.equal(await page.getByRole('search', { name: 'Filters' }).count(), 0, path)
    }
    for (const [query, text] of [
      ['log?code=FORBIDDEN', 'No calls match'],
      ['keys?state=revoked', 'No API keys match'],
      ['money/ledger?kind=allocate&period=24h', 'No transfers match'],
    ] as const) {
      await opened.goto(`/${query}&projectId=${projectId}`)
      await page.getByText(text, { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByText(text, { exact: true }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Clear filters' }).waitFor({ state: 'detached' })
    }
  })

  step('The calendar of a time filter and all its controls have names', async () => {
    await opened.open('/log')
    await page.getByLabel('From (UTC)').click()
    const calendar = page.getByRole('dialog', { name: 'From (UTC)' })
    for (const name of ['Previous month', 'Next month', 'Apply'])
      await calendar.getByRole('button', { name, exact: true }).waitFor()
    await opened.driver.inspectSchemes('calendar')
    await calendar.getByRole('button', { name: 'Previous month' }).click()
    await calendar.getByRole('button', { name: /^1 / }).first().click()
    await calendar.getByRole('spinbutton', { name: 'Hours' }).fill('07')
    await calendar.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/fromUtc=\d{4}-\d\d-01T07/u)
    assert.deepEqual(opened.driver.violations, [])
  })

  step('Times are in UTC, with the local time beside it where it differs', async () => {
    const { owner } = opened.testConsole
    const options = { timezoneId: 'Asia/Kolkata' }
    const other = await opened.openPage(owner, options)
    await other.goto(`${opened.testConsole.url}/log`)
    await other.getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC · \d\d:\d\d local$/u).waitFor()
    await other
      .getByRole('button', { name: /^Open svc/u })
      .first()
      .click()
    const time = other.getByRole('dialog').locator('time').first()
    const [, utc = '', local = ''] =
      /(\d\d:\d\d):\d\d \((\d\d:\d\d) local\)$/u.exec(await time.innerText()) ?? []
    const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
    assert.equal((minutes(local) - minutes(utc) + 1440) % 1440, 330, `${utc} ${local}`)
    await other.close()
    assert.equal(await page.getByText(/ local$/u).count(), 0, 'the machine of the test is in UTC')
  })

  step('On a phone every list has cards, folded filters and no sideways scroll', async () => {
    await page.setViewportSize(phoneViewport)
    for (const [name, path] of lists) {
      await opened.open(path)
      await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
      // Its further pages distinguish this list from those that first-use.test.ts inspects.
      if (name === 'log') await opened.driver.inspectSchemes(`phone-${name}`)
      assert.ok(await fitsWidth(page, phoneViewport.width), name)
      for (const table of await page.locator('.fg-scroll').all())
        assert.ok(await table.evaluate((list) => list.scrollWidth <= list.clientWidth + 1), name)
    }
    assert.deepEqual(opened.driver.violations, [])
  })

  step('On a phone a card opens its row, and a button shows and counts the filters', async () => {
    await opened.goto('/log?action=svc.detect&period=24h')
    const filters = page.getByRole('button', { name: 'Filters (2)' })
    await filters.waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Action' }).isVisible(), false)
    await filters.click()
    await page.getByRole('combobox', { name: 'Action' }).waitFor()
    await opened.driver.inspect('phone-log-filters', 'light')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('latency')
    await page.waitForURL(/sort=latency/u)
    await page.locator('td[data-label=Latency]', { hasText: '1.00 ms' }).first().click()
    await page.getByRole('dialog').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.setViewportSize(desktopViewport)
    assert.deepEqual(opened.pageErrors.messages, [])
  })
})
