import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { fitsWidth, skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { loadingSelector } from '../../support/console/browser/console-pages.ts'
import { smallTargets } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { addWorseCamera } from '../../support/console/worse-camera.ts'
import { sendVariedCalls, variedKeyCount } from '../../support/console/varied-calls.ts'

/** The pages with a primary action, and the dialog that it opens. */
const primaryActions = [
  ['/keys', 'Create key'],
  ['/projects', 'Create project'],
  ['/money', 'Top up'],
  ['/team', 'Invite user'],
  ['/webhooks', 'Create webhook'],
] as const

/** Longer than a refresh of the log, which is every 2 seconds. */
const hiddenMs = 3000

describe('Charts, phones and the keyboard', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page

  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser()
    page = browser.page
    await sendVariedCalls(browser.testConsole)
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const open = async (path: string): Promise<void> => {
    await browser.open(path)
    await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
  }

  step('Cards with the largest elements state how many there are', async () => {
    await open('/')
    const { body } = await browser.testConsole.owner.get('/overview')
    assert.ok(body.errorCodes > 5, `${body.errorCodes} codes`)
    await page.getByText(`Top 5 of ${body.errorCodes} error codes`).waitFor()
    await page.getByText(`Top 5 of ${body.budgets.length} projects`).waitFor()
    await page.getByText(`Top 5 of ${body.galleries.length} galleries`).waitFor()
    await open('/analytics?by=key')
    await page.getByText(`The chart shows the top 7 of ${variedKeyCount} keys.`).first().waitFor()
    await page
      .getByText(`${variedKeyCount - 7} others`)
      .first()
      .waitFor()
    await browser.driver.inspect('analytics-keys', 'light')
  })

  step('A camera that became worse is an alert, and its weeks are shown', async () => {
    const name = await addWorseCamera(browser.testConsole)
    await open('/')
    const alert = page.getByRole('note').filter({ hasText: 'Calls without a face rose' })
    await alert.getByRole('link', { name: 'View cameras' }).click()
    const cameras = page.getByRole('table', { name: 'Calls without a face by key and week' })
    const row = cameras.getByRole('row').filter({ hasText: name })
    await row.getByText('Calls without a face rose from 2 % to 20 %.').waitFor()
    await page.getByRole('radiogroup', { name: 'Measure' }).getByText('Quality').click()
    await page.getByRole('table', { name: 'Quality of the faces by key and week' }).waitFor()
    await browser.driver.inspect('analytics-cameras', 'light')
    await page.setViewportSize(phoneViewport)
    assert.ok(await fitsWidth(page, phoneViewport.width))
    const measures = await page.getByRole('radiogroup', { name: 'Measure' }).boundingBox()
    const last = page.getByText('Similarity of matches', { exact: true })
    const lastBox = await last.boundingBox()
    assert.ok(measures && lastBox, 'every measure is visible')
    assert.ok(lastBox.x + lastBox.width <= measures.x + measures.width)
    await browser.driver.inspect('analytics-cameras-phone', 'dark')
    await open('/live')
    const live = page.getByRole('region', { name: `Calls of ${name}` })
    await live.getByText('Calls without a face rose from 2 % to 20 %').waitFor()
    await browser.driver.inspect('live-cameras-phone', 'light')
    await live.getByRole('link', { name: `weeks of ${name}` }).click()
    await cameras.waitFor()
    await page.setViewportSize(desktopViewport)
  })

  step('A budget bar is as full as its text states', async () => {
    await open('/money')
    await page.getByText('No funds are allocated.').first().waitFor()
    const bar = page.getByRole('progressbar', { name: 'Budget used by Branch 0' })
    const text = await bar
      .locator('../..')
      .getByText(/% used: /u)
      .innerText()
    assert.equal(await bar.getAttribute('aria-valuetext'), text.split(' used')[0])
    const track = await bar.locator('..').boundingBox()
    const filled = await bar.boundingBox()
    assert.ok(track && filled)
    const percent = (filled.width / track.width) * 100
    assert.ok(Math.abs(percent - Number.parseFloat(text)) < 1, `${percent}: ${text}`)
  })

  step('At 1440 px no list is wider than its page, also with long names', async () => {
    for (const path of ['/log', '/keys', '/money/ledger', '/team/audit', '/projects', '/money']) {
      await open(path)
      for (const list of await page.locator('.fg-scroll').all()) {
        const { scrollWidth, clientWidth } = await list.evaluate((element) => ({
          scrollWidth: element.scrollWidth,
          clientWidth: element.clientWidth,
        }))
        assert.ok(scrollWidth <= clientWidth + 1, `${path}: ${scrollWidth} > ${clientWidth} px`)
      }
    }
    await open('/money/ledger')
    await page.getByRole('cell', { name: 'Budget of Branch 0' }).first().waitFor()
    await page.getByRole('cell', { name: 'allocation', exact: true }).first().waitFor()
  })

  step('Each bar of each chart opens its calls in the log, also with the keyboard', async () => {
    for (const label of [
      'Calls over time',
      'Spend over time',
      'Latency percentiles',
      'Similarity',
    ]) {
      await open('/analytics')
      await page.getByText('Faces for which svc.identify returns no match').waitFor()
      const marks = page.locator(`figure[aria-label^="${label}"] a`)
      const address = await marks.last().getAttribute('href')
      const total = await marks.count()
      assert.ok(total > 0 && address, label)
      await marks.last().focus()
      await page.keyboard.press('Enter')
      await browser.driver.waitForHeading('Request log')
      assert.equal(new URL(page.url()).searchParams.toString(), address.split('?')[1], label)
      await page
        .getByRole('button', { name: /^Open /u })
        .first()
        .waitFor()
    }
  })

  step('The arrow keys move between the bars, of which one is in the tab order', async () => {
    await open('/analytics?by=code')
    const marks = page.locator('figure[aria-label="Calls over time by code"] a')
    await marks.last().waitFor()
    assert.equal(await marks.and(page.locator('[tabindex="0"]')).count(), 1)
    await marks.first().focus()
    const first = await page.locator(':focus').getAttribute('aria-label')
    await page.locator('.fg-chart-tooltip').first().waitFor()
    await page.keyboard.press('ArrowUp')
    const second = await page.locator(':focus').getAttribute('aria-label')
    assert.notEqual(second, first)
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), first)
  })

  step('The keyboard skips to the content, and closes menus and dialogs', async () => {
    await browser.goto('/keys')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').innerText(), 'Skip to content')
    assert.notEqual(await page.evaluate(outlineScript), 'none')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    assert.ok(await page.locator('main :focus').count(), 'the focus is in the content')
    for (const name of [/^Account of /u, 'Create key'] as const) {
      const button = page.getByRole('button', { name }).first()
      await button.focus()
      await page.keyboard.press('Enter')
      const opened = page.getByRole('menu').or(page.getByRole('dialog'))
      // A menu and a dialog listen to keys when they have the focus.
      await page.locator('[role=menu]:focus-within, [role=dialog]:focus-within').waitFor()
      await page.keyboard.press('Escape')
      await opened.waitFor({ state: 'detached' })
      // After a dialog, the focus is checked in errors.test.ts.
      if (name !== 'Create key') await assertFocused(button)
    }
  })

  step('On a phone, the navigation and the primary actions are at the thumb', async () => {
    await page.setViewportSize(phoneViewport)
    for (const [path, name] of primaryActions) {
      await open(path)
      const button = page.locator('.fg-actions').getByRole('button', { name, exact: true })
      await assertAtThumb(button, path)
      await button.click()
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      const box = await dialog.boundingBox()
      assert.ok(
        box && box.width === phoneViewport.width && box.height >= phoneViewport.height,
        path,
      )
      if (path === '/keys') assert.deepEqual(await smallTargets(page), [])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    await open(`/playground?projectId=${browser.testConsole.projectId}`)
    await assertAtThumb(page.getByRole('button', { name: 'Run svc.detect' }), 'playground')
    const menu = page.getByRole('button', { name: 'Open navigation' })
    await assertAtThumb(menu, 'navigation')
    await menu.click()
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor()
    await browser.driver.inspect('navigation-phone', 'light')
    assert.deepEqual(await smallTargets(page), [])
    await page.keyboard.press('Escape')
    await assertFocused(menu)
  })

  step('On a phone, no text of a chart is cut', async () => {
    for (const path of ['/', '/analytics?by=key']) {
      await open(path)
      await page.locator('a.fg-chart-mark').first().waitFor()
      assert.ok(await fitsWidth(page, phoneViewport.width), path)
      assert.deepEqual(await page.evaluate<string[]>(cutTextsScript), [], path)
      await page.locator('a.fg-chart-mark').last().focus()
      await page.locator('.fg-chart-tooltip').waitFor()
      assert.deepEqual(await page.evaluate<string[]>(cutTextsScript), [], path)
    }
    await page.setViewportSize(desktopViewport)
  })

  step('The log is not refreshed while its tab is hidden', async () => {
    await open('/log')
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await page.evaluate(visibilityScript('hidden'))
    await page.getByRole('combobox', { name: 'Refresh', exact: true }).click()
    await page.getByRole('option', { name: 'Live (2 s)' }).click()
    await page.waitForTimeout(hiddenMs)
    const refreshes = requests.filter((path) => path.endsWith('/log'))
    assert.deepEqual(refreshes, [])
    await page.evaluate(visibilityScript('visible'))
    await page.waitForResponse((response) => /\/log(?:\?|$)/u.test(response.url()))
    assert.deepEqual(browser.driver.violations, [])
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})

/** Dialogs and menus return the focus after they have closed. */
async function assertFocused(target: Locator): Promise<void> {
  await target.and(target.page().locator(':focus')).waitFor()
}

/** The target is at the bottom of the screen and large enough. */
async function assertAtThumb(target: Locator, place: string): Promise<void> {
  await target.waitFor()
  const box = await target.boundingBox()
  assert.ok(box && box.height >= 44, `${place}: ${box?.height} px`)
  assert.ok(box.y > phoneViewport.height - 70, `${place}: at ${box.y} px`)
  assert.ok(box.y + box.height <= phoneViewport.height, `${place}: visible`)
}

// Scripts, because the tests have no types of the DOM.
const outlineScript = 'getComputedStyle(document.activeElement).outlineStyle'

const cutTextsScript = `[...document.querySelectorAll('.fg-chart span, .fg-chart-legend span, .fg-chart-tooltip span, figure p')]
  .filter((element) => {
    const { left, right, width } = element.getBoundingClientRect()
    return left < 0 || right > innerWidth || element.scrollWidth > Math.ceil(width) + 1
  })
  .map((element) => element.outerHTML)`
const visibilityScript = (state: 'hidden' | 'visible') => `
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`
