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
import {
  downloadBundle,
  explainRefusedPerson,
  findWorseCamera,
  mergeDuplicate,
  repairWebhook,
  sortLog,
} from '../../support/console/browser/day-checks.ts'
import { keyboardHands, pointerHands, type Hands } from '../../support/console/browser/hands.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { personFile, pictureVision } from '../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { createTestClient } from '../../support/facegate/test-facegate.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhooks/webhook-receiver.ts'
import { webhookSettings } from '../../support/webhooks/webhook-settings.ts'

const secondProject = 'Back door'
const windows = [
  { name: 'with the keyboard, 1440 px', viewport: desktopViewport, hands: keyboardHands },
  { name: 'on a phone, 360 px', viewport: phoneViewport, hands: pointerHands },
] as const

for (const { name, viewport, hands: createHands } of windows)
  describe(`A working day of an owner, ${name}`, { skip: skipWithoutBrowser }, () => {
    const isPhone = viewport === phoneViewport
    let browser: ConsoleBrowser
    let page: Page
    let hands: Hands
    let dialog: Locator
    let key = ''
    let receiver: WebhookReceiver

    const step = sequentialTests()

    before(async () => {
      const vision = pictureVision({ name: 'Zoe' })
      receiver = await startWebhookReceiver()
      const options = { vision, isMonitored: true, environment: webhookSettings }
      browser = await openConsoleBrowser(options, { viewport })
      page = browser.page
      hands = createHands(page)
      dialog = page.getByRole('dialog')
      const { owner, projectId } = browser.testConsole
      const body = { name: secondProject, galleryMode: 'isolated' }
      assertOk(await owner.send('POST', '/projects', body))
      const switches = { storeCrops: true }
      assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
    })
    after(async () => {
      await browser?.[Symbol.asyncDispose]()
      await receiver?.[Symbol.asyncDispose]()
    })

    const button = (label: string | RegExp) =>
      page.getByRole('button', { name: label, exact: typeof label === 'string' })
    const inDialog = (label: string) => dialog.getByRole('button', { name: label, exact: true })
    const chooseFiles = async (...people: readonly string[]) =>
      page
        .locator('input[type=file]')
        .last()
        .setInputFiles(await Promise.all(people.map((of) => personFile(`${of}.jpg`, { name: of }))))

    /** Opens a page through the navigation, which is a drawer on a phone. */
    async function open(title: string): Promise<void> {
      if (isPhone) await hands.press(button('Open navigation'))
      const navigation = page.getByRole('navigation').filter({ visible: true })
      await hands.press(navigation.getByRole('link', { name: title, exact: true }))
      await browser.driver.waitForHeading(title)
    }

    /** Inspects what is shown. The tests of each page check its accessibility on a desktop. */
    async function inspect(what: string): Promise<void> {
      assert.ok(await fitsWidth(page, viewport.width), `${what} fits the width`)
      if (isPhone) await browser.driver.inspectSchemes(`day-${what}-${viewport.width}`)
    }

    step('The playground compares an enrolled person, and the threshold can be moved', async () => {
      await browser.goto('/playground?action=svc.enroll')
      await hands.choose(page.getByRole('combobox', { name: 'Choose a project' }), 'default')
      await page.getByText('Add one image.').waitFor()
      await chooseFiles('Ada')
      await hands.type(page.getByRole('textbox', { name: 'displayName' }), 'Ada Lovelace')
      await hands.press(button('Run svc.enroll'))
      await page.getByText('New subject enrolled').waitFor()
      await hands.choose(
        page.getByRole('combobox', { name: 'Action', exact: true }),
        'svc.identify',
      )
      await hands.press(button('Run svc.identify'))
      await page.getByRole('progressbar', { name: 'Ada Lovelace' }).waitFor()
      await page.getByRole('slider', { name: 'Threshold' }).focus()
      await page.keyboard.press('End')
      await page.getByText(/^False-match rate at this threshold: at most 1 of .* pairs/u).waitFor()
      await inspect('playground')
    })

    step('The overview shows all projects, and with a filter only the one', async () => {
      await open('Overview')
      await page.getByText('2 billed').waitFor()
      await hands.choose(
        page.getByRole('combobox', { name: 'Project', exact: true }),
        secondProject,
      )
      await page.getByText('2 billed').waitFor({ state: 'detached' })
      await hands.choose(page.getByRole('combobox', { name: 'Project', exact: true }), 'default')
      await page.getByText('2 billed').waitFor()
      await inspect('overview')
    })

    step('A key is created from a preset, and the log explains its failed call', async () => {
      await open('API keys')
      await hands.press(button('Create key').first())
      await hands.type(dialog.getByLabel('Name'), 'front camera')
      await hands.choose(dialog.getByRole('combobox', { name: 'Preset' }), 'Kiosk: identify only')
      await hands.choose(dialog.getByRole('combobox', { name: 'Expires' }), '90 days')
      await hands.press(inDialog('Create key'))
      key = (await dialog.locator('pre').innerText()).trim()
      await hands.press(dialog.getByLabel('I have copied it'))
      await hands.press(inDialog('Done'))
      const client = createTestClient(browser.testConsole.url, key)
      assert.equal((await client.post({ action: 'svc.identify', params: {} })).body.ok, false)
      await open('Request log')
      const row = page.getByRole('row').filter({ hasText: 'front camera' })
      await hands.press(row.getByRole('button', { name: /^Open svc.identify/u }))
      await dialog.getByText('params.images', { exact: true }).waitFor()
      await inspect('log')
      await page.keyboard.press('Escape')
    })

    const tools = () => ({ browser, hands, isPhone, open, inspect })

    step('A refused person is found in the log, and explained', () => explainRefusedPerson(tools()))

    step('A camera that got worse is found', () => findWorseCamera(tools()))

    step('A webhook that fails states the cause, and is repaired', () =>
      repairWebhook(tools(), receiver),
    )

    step(
      'A change that deletes crops is counted and confirmed, and a setting can be undone',
      async () => {
        await open('Projects')
        await hands.press(page.getByRole('link', { name: 'default', exact: true }))
        await browser.driver.waitForHeading('default')
        const crops = page.getByRole('switch', { name: 'Store crops' })
        if (isPhone) await crops.click({ force: true })
        else await hands.press(crops)
        await dialog.getByText('1 stored crop', { exact: true }).waitFor()
        assert.ok(await inDialog('Delete the crops').isDisabled())
        await inspect('confirmation')
        await hands.type(dialog.getByLabel(/to confirm$/u), 'default')
        await Promise.all([
          page.getByText('Crops are no longer stored. Deleted: 1 stored crop.').waitFor(),
          hands.press(inDialog('Delete the crops')),
        ])
        const burst = page.getByLabel(/^Burst limit/u)
        const before = await burst.inputValue()
        await hands.type(burst, '77')
        await hands.press(button('Save'))
        await Promise.all([
          page.getByText('The earlier settings apply again.').waitFor(),
          hands.press(button('Undo')),
        ])
        assert.equal(await burst.inputValue(), before)
      },
    )

    step('A threshold at which other people match is confirmed with its effect', async () => {
      const projectPath = `/projects/${browser.testConsole.projectId}`
      const stored = async () =>
        (await browser.testConsole.owner.get(projectPath)).body.identifyThreshold
      const threshold = page.getByLabel('svc.identify threshold')
      await page.getByText(/^Enrolled people refused: .* of the last 30 days: /u).waitFor()
      await hands.type(threshold, '1.4')
      await hands.press(button('Save'))
      await page.getByText('Enter a number from 0 to 1').waitFor()
      assert.equal(await stored(), null)
      await hands.type(threshold, '0.2')
      await page.getByText(/^At 0\.2, .* pairs of different people match/u).waitFor()
      await page.getByText(/^False matches: searches for other people: [\d<>. ]+ %$/u).waitFor()
      await page.getByRole('slider', { name: 'Slider of the threshold' }).press('ArrowRight')
      assert.equal(await threshold.inputValue(), '0.21')
      await page.getByText(/^At 0\.21, /u).waitFor()
      await hands.type(threshold, '0.2')
      await page.getByText(/^At 0\.2, /u).waitFor()
      await hands.press(button('Save'))
      await dialog.getByText('A door opens to them.').waitFor()
      assert.ok(await inDialog('Save').isDisabled())
      await inspect('confirm-threshold')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await stored(), null)
      await hands.press(button('Save'))
      await hands.type(dialog.getByLabel(/to confirm$/u), '0.2')
      await Promise.all([
        page.getByText('Settings saved. They apply to new calls.').waitFor(),
        hands.press(inDialog('Save')),
      ])
      assert.equal(await stored(), 0.2)
      // The notification of the undo before can still be shown.
      await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'PATCH'),
        hands.press(button('Undo')),
      ])
      assert.equal(await stored(), null)
    })

    step('A duplicate is merged, and the merge is undone', () => mergeDuplicate(tools()))
    step('A person is enrolled on the page of subjects, grouped and deleted', async () => {
      await open('Subjects')
      await hands.press(button('Enroll a subject'))
      await dialog.getByText('Add one image.').waitFor()
      await chooseFiles('Bob')
      await hands.type(dialog.getByLabel('Display name'), 'Bob')
      await hands.press(inDialog('Enroll'))
      await dialog.getByText('New subject enrolled').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await hands.press(page.getByRole('checkbox', { name: 'Select Bob' }))
      await hands.press(button('Change groups'))
      await hands.type(dialog.getByLabel('Add to groups', { exact: true }), 'day')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      await hands.press(inDialog('Change groups'))
      await dialog.getByText('1 of 1 subject changed.').waitFor()
      await hands.press(inDialog('Done'))
      await inspect('subjects')
      await hands.press(button('Delete'))
      await hands.type(dialog.getByLabel(/to confirm$/u), 'delete 1 subject')
      await Promise.all([
        page.getByText('1 deleted').waitFor(),
        hands.press(inDialog('Delete permanently')),
      ])
    })

    step('A key is rotated, and both secrets work', async () => {
      await open('API keys')
      await hands.press(button('Open front camera'))
      await hands.press(inDialog('Rotate'))
      await hands.press(page.getByRole('button', { name: 'Rotate key' }))
      const rotated = (await page.locator('pre').innerText()).trim()
      await hands.press(page.getByLabel('I have copied it'))
      await hands.press(button('Done'))
      for (const secret of [key, rotated]) {
        const client = createTestClient(browser.testConsole.url, secret)
        assert.equal((await client.post({ action: 'svc.identify', params: {} })).status, 200)
      }
      await dialog.getByText('is valid until').waitFor()
      await inspect('key')
      await page.keyboard.press('Escape')
    })

    step('Two pictures are compared in the pair tester', async () => {
      await open('Pair tester')
      await page.getByText('Add 2 images.').waitFor()
      await chooseFiles('Cleo', 'Dan')
      await hands.press(button('Compare'))
      await page.locator('output').getByText('No match', { exact: true }).waitFor()
      await inspect('pair-tester')
      await open('Models')
      await button('Calibrate a gallery').waitFor()
    })

    step('The log is sorted, and its period stays chosen after a reload', () => sortLog(tools()))

    step('The audit log states the changes of the day in plain words', async () => {
      await open('Audit log')
      for (const words of ['Changed a project', 'Created a new secret of an API key'])
        await page.getByText(words, { exact: true }).first().waitFor()
      await inspect('audit')
    })

    step('The page of the system has its history, and a support bundle without secrets', () =>
      downloadBundle(tools(), [key, 'Ada']),
    )

    step('Without a connection the page states it, and recovers by itself', async () => {
      await page.context().setOffline(true)
      await page.getByText('You are offline.', { exact: true }).waitFor()
      await inspect('offline')
      await page.context().setOffline(false)
      await page.getByText('You are offline.', { exact: true }).waitFor({ state: 'detached' })
      const errors = browser.pageErrors.messages.filter((text) => text.startsWith('error:'))
      assert.deepEqual([errors, browser.driver.violations], [[], []])
    })
  })
