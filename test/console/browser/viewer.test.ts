import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import {
  consolePages,
  loadingSelector,
  openPage,
} from '../../support/console/browser/console-pages.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

/** The first words of controls that change data. Those of the user's own account are allowed. */
const changing =
  /^(?:add|allocate|apply|calibrate|change|confirm|create|delete|disable|discard|edit|enroll|import|install|invite|merge|move|not the same|not this|pause|raise|remove|rename|resume|retire|revert|revoke|rotate|run svc|same person|save|send|set|sign|stop|switch|top up|undo|update|use)\b/iu

/** The paths on which a user changes only the own account, or chooses what is shown. */
const ownPaths: ReadonlySet<string> = new Set(['/account'])

describe('A viewer of the console', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  const paths: string[] = []

  before(async () => {
    browser = await openConsoleBrowser()
    const { owner, projectId } = browser.testConsole
    const subjects = `/projects/${projectId}/subjects`
    const enroll = async (name: string) => {
      const params = { ...imageParams(name), displayName: name, groups: ['staff'] }
      const call = { action: 'svc.enroll', params }
      assertOk(await owner.send('POST', '/playground', { projectId, call }))
      const { items } = assertOk(await owner.get(`${subjects}?q=${name}`)).body
      return items[0].subjectId as string
    }
    const subjectId = await enroll('Ada')
    const deletedId = await enroll('Bob')
    const confirm = deletedId.slice(0, 8)
    assertOk(await owner.send('DELETE', `${subjects}/${deletedId}`, { confirm }))
    assertOk(await owner.send('POST', '/users', { name: 'Invited', role: 'viewer' }))
    const key = { projectId, name: 'door', permissions: ['svc.identify'] }
    const { keyId } = assertOk(await owner.send('POST', '/keys', key)).body
    const webhook = { projectId, url: 'https://hooks.invalid/path', events: ['budget.low'] }
    const { webhookId } = assertOk(await owner.send('POST', '/webhooks', webhook)).body
    const [call] = assertOk(await owner.get('/log')).body.items
    const [transfer] = assertOk(await owner.get('/money/ledger')).body.items
    paths.push(
      ...consolePages.map(([, path]) => path).filter((path) => !ownPaths.has(path)),
      `/projects/${projectId}`,
      `/subjects?subject=${subjectId}`,
      `/keys?key=${keyId}`,
      `/webhooks?webhook=${webhookId}`,
      `/log?call=${call.callId}`,
      `/money/ledger?transfer=${transfer.transferId}`,
    )
  })
  after(() => browser?.[Symbol.asyncDispose]())

  /** Returns the enabled controls of all pages whose name begins with a change. */
  async function changesOffered(page: Page): Promise<readonly string[]> {
    const offered: string[] = []
    for (const path of paths) {
      await openPage(page, `${browser.testConsole.url}${path}`)
      await page.locator('h1').waitFor()
      await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
      const names = await page.evaluate<string[]>(namesOfControls)
      offered.push(...names.filter((name) => changing.test(name)).map((name) => `${path} ${name}`))
    }
    return offered
  }

  test('is offered no change on any page', async () => {
    const viewer = await browser.testConsole.inviteMember('viewer')
    const page = await browser.openPage(viewer)
    await page.goto(browser.testConsole.url)
    await page.locator('h1').waitFor()
    assert.deepEqual(await changesOffered(page), [])
    const offered = new Set(
      (await changesOffered(browser.page)).map((line) => line.split(/[? ]/u)[0]),
    )
    for (const path of ['/subjects', '/groups', '/keys', '/webhooks', '/money', '/team', '/models'])
      assert.ok(offered.has(path), `the owner is offered a change on ${path}`)
  })
})

/** The names of the enabled controls that are visible. */
const namesOfControls = `[...document.querySelectorAll('button, a, input, [role=switch]')]
  .filter((control) => !control.matches(':disabled, [aria-disabled=true]') && control.getClientRects().length > 0)
  .map((control) => (control.getAttribute('aria-label') ??
    control.labels?.[0]?.innerText ?? control.innerText).trim())`
