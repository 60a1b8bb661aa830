import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { assertOk } from '../../../support/console/test-console.ts'
import { imageParams } from '../../../support/gallery/test-gallery.ts'

const viewport = { width: 390, height: 844 }
/** The longest name, without a space. */
const longName = (first: string) => first.padEnd(128, 'W')
const group = 'Group'.padEnd(64, 'W')

describe('The longest names fit on a phone', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({}, { viewport })
    const { owner, gallery, projectId } = browser.testConsole
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { name: longName('Project') }))
    const enroll = { ...imageParams('Ada'), displayName: longName('Ada'), groups: [group] }
    await gallery.value('svc.enroll', enroll)
    const [{ keyId }] = (await owner.get('/keys')).body.items
    assertOk(await owner.send('PATCH', `/keys/${keyId}`, { name: longName('Key') }))
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const assertFits = async () =>
    assert.deepEqual(await browser.page.evaluate(cutTextsScript), [], browser.page.url())

  step('A page breaks a long name', async () => {
    const { page, open, testConsole } = browser
    for (const [path, shown] of [
      ['/live', /^log of Key/u],
      [`/projects/${testConsole.projectId}`, /^ProjectW/u],
      [`/playground?projectId=${testConsole.projectId}`, /^Project: ProjectW/u],
      ['/subjects', /^AdaW/u],
      ['/keys', /^KeyW/u],
    ] as const) {
      await open(path)
      await page.getByText(shown).first().waitFor()
      await assertFits()
    }
  })

  step('A drawer breaks the name in its title and shows the button that closes it', async () => {
    const { page, open } = browser
    await page.getByRole('button', { name: /^Open Key/u }).click()
    const drawer = page.getByRole('dialog')
    for (const title of [/^KeyW/u, /^Group GroupW/u]) {
      await drawer.getByRole('heading', { name: title }).waitFor()
      await assertFits()
      const close = await drawer.getByRole('button', { name: 'Close', exact: true }).boundingBox()
      assert.ok(close && close.x + close.width <= viewport.width, JSON.stringify(close))
      await open(`/groups?group=${group}`)
    }
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})

/** Visible texts beyond the window, unless an ancestor scrolls or cuts them with an ellipsis. */
const cutTextsScript = `[...document.querySelectorAll('body *')]
  .filter((element) => {
    if (!element.checkVisibility() || element.matches('.fg-skip')) return false
    const isBeyond = [...element.childNodes].some((node) => {
      if (node.nodeType !== Node.TEXT_NODE) return false
      const range = document.createRange()
      range.selectNode(node)
      const { right, left, width } = range.getBoundingClientRect()
      return width > 0 && (right > innerWidth + 1 || left < -1)
    })
    if (!isBeyond) return false
    for (let parent = element; parent !== document.body; parent = parent.parentElement) {
      const { overflowX, textOverflow, clip, clipPath } = getComputedStyle(parent)
      if (clip !== 'auto' || clipPath !== 'none') return false
      if (textOverflow === 'ellipsis' || /auto|scroll/.test(overflowX)) return false
    }
    return true
  })
  .map(({ outerHTML }) => outerHTML.slice(0, 120))`
