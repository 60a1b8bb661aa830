import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { assertOk, type ConsoleClient } from '../../../support/console/test-console.ts'

const sustainedLabel = 'Sustained limit (requests per second)'
const savedText = 'Settings saved. They apply to new calls.'

describe('Two users change the same object', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let other: ConsoleClient
  let projectId: string
  let projectPath: string
  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser()
    page = browser.page
    other = browser.testConsole.owner
    projectId = browser.testConsole.projectId
    projectPath = `/projects/${projectId}`
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const change = async (path: string, body: object) =>
    assertOk(await other.send('PATCH', path, body))
  /** Returns the stored object of a list. */
  const stored = async (path: string, idName: string, id: string) =>
    assertOk(await other.get(path)).body.items.find(
      (item: Readonly<Record<string, unknown>>) => item[idName] === id,
    )
  /** Saves, and waits until the dialog has closed. */
  const saveDialog = async (name: string, saveLabel = 'Save') => {
    const dialog = page.getByRole('dialog', { name, exact: true })
    await dialog.getByRole('button', { name: saveLabel, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  const auditDetail = async (action: string) =>
    assertOk(await other.get(`/audit?auditAction=${action}&limit=1`)).body.items[0].detail

  step('Project settings contain new stored values, and only a changed one is sent', async () => {
    await browser.goto(projectPath)
    const burst = page.getByLabel('Burst limit (requests)')
    await burst.fill('70')
    const hint = page.getByText('The service derives the threshold')
    await page.getByText(/Of .* of svc\.identify in the last/u).waitFor()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    const yOf = async (control: Locator) => (await control.boundingBox())?.y ?? Number.NaN
    const distance = async () => (await yOf(save)) - (await yOf(burst))
    const before = await distance()
    assert.ok(await hint.isVisible())
    await change(projectPath, { identifyThreshold: 0.93, sustainedPerS: 3, nearMissHours: 48 })
    // A write of this user fetches the project again.
    await page.getByRole('switch', { name: 'Gender' }).click()
    await page.getByText('Gender is off.').or(page.getByText('Gender is on.')).waitFor()
    // The value of the slider is an attribute.
    await page
      .getByRole('slider', { name: /threshold/iu })
      .and(page.locator('[aria-valuenow="0.93"]'))
      .waitFor()
    assert.equal(await page.getByLabel(sustainedLabel).inputValue(), '3')
    assert.equal(await burst.inputValue(), '70', 'a typed value stays')
    await burst.fill('77')
    await hint.waitFor({ state: 'hidden' })
    assert.equal(await distance(), before, 'Save does not move between press and release')
    await save.click()
    await page.getByText(savedText).waitFor()
    assert.deepEqual(await auditDetail('project.update'), { burst: 77 })
    const { body } = await other.get(projectPath)
    assert.deepEqual(
      [body.burst, body.identifyThreshold, body.sustainedPerS, body.nearMissHours],
      [77, 0.93, 3, 48],
    )
  })

  step('An undo of project settings keeps what another user changed meanwhile', async () => {
    await change(projectPath, { sustainedPerS: 4 })
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('The earlier settings apply again.').waitFor()
    await page.getByText(savedText).waitFor({ state: 'detached' })
    const { body } = await other.get(projectPath)
    assert.deepEqual([body.isBurstDefault, body.sustainedPerS], [true, 4])
    assert.equal(await page.getByLabel('Burst limit (requests)').inputValue(), '')
    assert.equal(await page.getByLabel(sustainedLabel).inputValue(), '4')
  })

  step('An undo restores the value that was stored at the save', async () => {
    const sustained = page.getByLabel(sustainedLabel)
    await change(projectPath, { sustainedPerS: 5 })
    assert.equal(await sustained.inputValue(), '4', 'the page shows an earlier value')
    await sustained.fill('6')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(savedText).waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    // The message of the step before can still be visible: the value shows the end of this undo.
    await sustained.and(page.locator('[value="5"]')).waitFor()
    await page.getByText(savedText).waitFor({ state: 'detached' })
    assert.equal((await other.get(projectPath)).body.sustainedPerS, 5)
  })

  step('An undo is refused after a later change of the same value', async () => {
    const undo = async (value: object) => {
      await change(projectPath, value)
      await page.getByRole('button', { name: 'Undo' }).last().click()
      await page.getByText("Couldn't undo").waitFor()
      const text = `Nothing was changed: another change of ${Object.keys(value).join()} is stored`
      await page.getByText(text).waitFor()
      await page.getByRole('alert').getByRole('button').last().click()
      await page.getByText("Couldn't undo").waitFor({ state: 'detached' })
    }
    await page.getByLabel(sustainedLabel).fill('7')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(savedText).waitFor()
    await undo({ sustainedPerS: 8 })
    await page.getByLabel(sustainedLabel).and(page.locator('[value="8"]')).waitFor()
    await page.getByRole('switch', { name: 'Gender' }).click()
    await page.getByText('Gender is on.').last().waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Gender is off again.').waitFor()
    await page.getByRole('switch', { name: 'Expression' }).click()
    await page.getByText('Expression is off.').waitFor()
    await undo({ switches: { expression: true } })
    const { sustainedPerS, switches } = (await other.get(projectPath)).body
    assert.deepEqual([sustainedPerS, switches.expression, switches.gender], [8, true, false])
    const refusals = browser.pageErrors.messages.splice(0)
    assert.deepEqual(
      refusals.map((text) => /409/u.test(text)),
      [true, true],
    )
  })

  step('An edited key does not get back a permission that another user removed', async () => {
    const permissions = ['svc.identify', 'svc.deleteSubject']
    const { keyId } = assertOk(
      await other.send('POST', '/keys', { projectId, name: 'door', permissions }),
    ).body
    await browser.goto('/keys')
    await page.getByRole('button', { name: 'Open door' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit API key' })
    await dialog.getByLabel('Name').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing to save')
    await change(`/keys/${keyId}`, { permissions: ['svc.identify'], name: 'gate' })
    await dialog.getByRole('checkbox', { name: 'svc.detect', exact: true }).check()
    await saveDialog('Edit API key')
    const key = await stored('/keys', 'keyId', keyId)
    assert.deepEqual(key.permissions.toSorted(), ['svc.detect', 'svc.identify'])
    assert.equal(key.name, 'gate')
  })

  step('An edited user does not get back access that another owner ended', async () => {
    const invited = await other.send('POST', '/users', { name: 'Ursula', role: 'admin' })
    const { userId } = assertOk(invited).body.user
    await browser.goto('/team')
    await page
      .getByRole('row', { name: /Ursula/u })
      .getByRole('button', { name: 'Edit' })
      .click()
    const dialog = page.getByRole('dialog', { name: 'Ursula' })
    assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing to save')
    await change(`/users/${userId}`, { disabled: true })
    await dialog.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Viewer: read-only' }).click()
    await saveDialog('Ursula')
    const { role, disabled } = await stored('/users', 'userId', userId)
    assert.deepEqual([role, disabled], ['viewer', true])
    assert.deepEqual(await auditDetail('user.update'), { role: 'viewer', name: 'Ursula' })
  })

  step('Edited events of a webhook keep the changes of another user', async () => {
    const url = 'https://events.invalid/'
    const events = ['identify.matched', 'budget.low']
    const { webhookId } = assertOk(
      await other.send('POST', '/webhooks', { projectId, url, events }),
    ).body
    await browser.goto('/webhooks')
    await page
      .getByRole('row', { name: /events.invalid/u })
      .getByRole('button')
      .first()
      .click()
    await page.getByRole('button', { name: 'Edit events' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit events' })
    await dialog.getByLabel('Minimum similarity').fill('0.9')
    await change(`/webhooks/${webhookId}`, {
      events: ['identify.matched'],
      matchFilter: { outcomes: ['match'] },
    })
    await dialog.getByRole('checkbox', { name: 'key.expiring' }).check()
    await saveDialog('Edit events', 'Save events')
    const webhook = await stored('/webhooks', 'webhookId', webhookId)
    assert.deepEqual(webhook.events.toSorted(), ['identify.matched', 'key.expiring'])
    assert.deepEqual(webhook.matchFilter, { outcomes: ['match'], minSimilarity: 0.9 })
  })

  step('The unit price of an action is saved only after a change', async () => {
    assertOk(await other.send('PUT', '/money/prices/svc.detect', { unitMicros: '3000' }))
    await browser.goto('/money')
    await page.getByRole('button', { name: 'Edit price of svc.detect' }).click()
    const dialog = page.getByRole('dialog', { name: 'Price of svc.detect' })
    const amount = dialog.getByLabel(/^Unit price/u)
    assert.equal(await amount.inputValue(), '0.003')
    assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing to save')
    await amount.fill('')
    await saveDialog('Price of svc.detect')
    const { prices } = assertOk(await other.get('/money')).body
    const price = prices.find(({ action }: { action: string }) => action === 'svc.detect')
    assert.equal(price.isDefault, true)
  })

  step('No page has an error', async () => {
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})
