import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import type { ConsoleDriver } from '../../support/console/browser/console-driver.ts'
import { inspectDialog } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { personFile, pictureVision } from '../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { takeOf } from '../../support/gallery/fake-vision.ts'

describe('An owner works with subjects', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let driver: ConsoleDriver
  let dialog: Locator
  let path: string

  const step = sequentialTests()
  const inspect = (name: string) => inspectDialog(page, driver, name)

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision(takeOf('Ann', 9)) })
    ;({ page, driver } = browser)
    dialog = page.getByRole('dialog')
    const { owner, projectId } = browser.testConsole
    path = `/projects/${projectId}`
    assertOk(await owner.send('PATCH', path, { switches: { storeCrops: true } }))
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const list = async (query = '') =>
    assertOk(await browser.testConsole.owner.get(`${path}/subjects${query}`)).body.items
  const subjectNamed = async (name: string) => (await list(`?q=${name}`))[0]
  const rowOf = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  const chooseImages = (...files: Parameters<Locator['setInputFiles']>[0][]) =>
    dialog.getByLabel('Images').setInputFiles(files as never)

  async function isShown(image: Locator): Promise<boolean> {
    await image.waitFor()
    return image.evaluate(async (element) => {
      // The type check of the tests has no browser types.
      const shown = element as unknown as {
        readonly decode: () => Promise<void>
        readonly naturalWidth: number
      }
      await shown.decode()
      return shown.naturalWidth > 0
    })
  }

  async function download(button: Locator): Promise<string> {
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
    return readFile(await file.path(), 'utf8')
  }

  step('A subject is enrolled with several files, and its crop is shown', async () => {
    await browser.goto('/subjects')
    await page.getByRole('button', { name: 'Enroll a subject' }).click()
    const enroll = dialog.getByRole('button', { name: 'Enroll', exact: true })
    await dialog.getByText('Add one image.').waitFor()
    await dialog.getByText(/^Price: 0\.002 USD/u).waitFor()
    await chooseImages(
      await personFile('ann-1.jpg', takeOf('Ann', 0)),
      await personFile('ann-2.jpg', takeOf('Ann', 1)),
    )
    await dialog.getByText(/^At most 0\.004 USD for 2/u).waitFor()
    await dialog.getByLabel('Display name').fill('Ann Berg')
    await dialog.getByLabel('External id').fill('ann')
    await dialog.getByLabel('Groups', { exact: true }).fill('staff')
    await page.keyboard.press('Enter')
    await inspect('subject-enroll')
    await enroll.click()
    await dialog.getByText('New subject enrolled').waitFor()
    for (const picture of ['ann-1.jpg', 'ann-2.jpg'])
      await dialog.getByText(`${picture}: enrolled`).waitFor()
    await dialog.getByRole('img', { name: /^ann-2\.jpg: 1 face/u }).waitFor()
    await dialog.getByRole('button', { name: 'Open the subject' }).click()
    await dialog.getByRole('heading', { name: 'Subject', exact: true }).waitFor()
    assert.equal(await dialog.getByRole('img', { name: /^Crop of face / }).count(), 2)
    assert.ok(await isShown(dialog.getByRole('img', { name: /^Crop of face / }).first()))
    const { groups, embeddingCount } = await subjectNamed('Ann')
    assert.deepEqual([groups, embeddingCount], [['staff'], 2])
  })

  step('A refused picture stays, with its reason, and can be enrolled anyway', async () => {
    await browser.goto('/subjects')
    await page.getByRole('button', { name: 'Enroll a subject' }).click()
    await dialog.getByText('Add one image.').waitFor()
    await chooseImages(
      await personFile('other.jpg', { name: 'Odo' }),
      await personFile('mia-1.jpg', takeOf('Mia', 0)),
      await personFile('mia-2.jpg', takeOf('Mia', 1)),
    )
    await dialog.getByLabel('Display name').fill('Mia')
    await dialog.getByRole('button', { name: 'Enroll', exact: true }).click()
    await dialog.getByText('2 of 3 pictures enrolled').waitFor()
    await dialog.getByText('other.jpg: refused').waitFor()
    await dialog
      .getByText(/^The similarity .* Choose another picture, or enroll it nevertheless/u)
      .waitFor()
    for (const name of ['other.jpg: 0 faces', /^mia-1\.jpg: 1 face;/u, /^mia-2\.jpg: 1 face;/u])
      await dialog.getByRole('img', { name }).waitFor()
    await dialog.getByRole('button', { name: 'Remove image 0: other.jpg' }).waitFor()
    await inspect('subject-enroll-refused')
    await dialog.getByRole('button', { name: 'It is the same person: enroll' }).click()
    await dialog.getByText('Faces added to the subject').waitFor()
    assert.equal((await subjectNamed('Mia')).embeddingCount, 3)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const { subjectId } = await subjectNamed('Mia')
    const body = { confirm: subjectId.slice(0, 8) }
    assertOk(await browser.testConsole.owner.send('DELETE', `${path}/subjects/${subjectId}`, body))
    const ann = await subjectNamed('Ann')
    await browser.goto(`/subjects?subject=${ann.subjectId}`)
  })

  step(
    'The camera adds a face, and a picture of another person states why it is refused',
    async () => {
      await dialog.getByRole('button', { name: 'Add faces' }).click()
      const form = page.getByRole('dialog', { name: 'Add faces to Ann Berg' })
      const add = form.getByRole('button', { name: 'Add faces' })
      await form.getByLabel('Images').setInputFiles(await personFile('bob.jpg', { name: 'Bob' }))
      await add.click()
      await form.getByText('Nothing was enrolled').waitFor()
      await form.getByText('bob.jpg: refused').waitFor()
      await form.getByText(/Choose another picture, or enroll it nevertheless/u).waitFor()
      await form.getByRole('button', { name: /^Remove image 0/u }).click()
      await form.getByRole('button', { name: 'Camera' }).click()
      await page.getByRole('button', { name: 'Take photo' }).click()
      await form.getByRole('button', { name: 'Remove image 0: camera.jpg' }).waitFor()
      await add.click()
      await form.getByText('Faces added to the subject').waitFor()
      await form.getByRole('button', { name: 'Open the subject' }).click()
      await dialog
        .getByRole('img', { name: /^Crop of face / })
        .nth(2)
        .waitFor()
      await inspect('subject-with-crops')
      await dialog.getByRole('button', { name: 'Close' }).click()
      assert.ok(await isShown(rowOf('Ann Berg').locator('img')), 'the thumbnail of the list')
    },
  )

  step(
    'A list with pictures enrolls people, and lists the rows that it cannot enroll',
    async () => {
      const csv = [
        'file,externalId,displayName,groups',
        'bob.jpg,bob,Bob,guests',
        'cleo.jpg,cleo,Cleo,guests staff',
        'damaged.jpg,dan,Dan,',
        'missing.jpg,eve,Eve,',
        'ann.jpg,ann-2,Anna B.,guests',
      ].join('\n')
      await page.getByRole('button', { name: 'Import' }).click()
      await dialog
        .getByLabel('List and pictures')
        .setInputFiles([
          { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) },
          await personFile('bob.jpg', { name: 'Bob' }),
          await personFile('cleo.jpg', { name: 'Cleo' }),
          { name: 'damaged.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no picture') },
          await personFile('ann.jpg', takeOf('Ann', 2)),
        ])
      await dialog
        .getByText(/4 rows with a picture will be enrolled\. 1 row cannot be sent/u)
        .waitFor()
      await dialog.getByRole('button', { name: 'Enroll 4 rows' }).click()
      await dialog.getByText('4 of 4 rows processed, finished').waitFor()
      await dialog.getByText('2 refused · 2 enrolled · 1 similar to enrolled subjects').waitFor()
      assert.deepEqual(await list('?externalId=ann-2'), [], 'the owner decides about a duplicate')
      await dialog
        .getByRole('button', { name: 'Enroll 1 row in spite of similar subjects' })
        .click()
      await dialog.getByText('2 refused · 3 enrolled').waitFor()
      assert.equal((await list('?externalId=ann-2')).length, 1)
      await dialog
        .getByText('damaged.jpg is neither JPEG nor PNG. Convert it to JPEG or PNG.')
        .waitFor()
      await inspect('subjects-import')
      const results = await download(dialog.getByRole('button', { name: 'Download results' }))
      assert.equal(results.split('\r\n').length, 7, 'a header, five rows and the end')
      assert.match(results, /^5,eve,refused,,the file missing\.jpg was not chosen$/mu)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await rowOf('Cleo').waitFor()
    },
  )

  step(
    'Chosen subjects are added to a group and exported, and the export is imported again',
    async () => {
      for (const name of ['Bob', 'Cleo'])
        await page.getByRole('checkbox', { name: `Select ${name}` }).check()
      await page.getByText('2 selected').waitFor()
      const all = page.getByRole('checkbox', { name: 'Select all on this page' })
      await all.check()
      await page.getByText('4 selected').waitFor()
      for (const name of ['Ann Berg', 'Anna B.'])
        await page.getByRole('checkbox', { name: `Select ${name}` }).uncheck()
      await page.getByText('2 selected').waitFor()
      await inspect('subjects-selected')
      await page.getByRole('button', { name: 'Change groups' }).click()
      await dialog.getByLabel('Add to groups', { exact: true }).fill('day')
      await page.keyboard.press('Enter')
      await dialog.getByLabel('Remove from groups', { exact: true }).fill('gue')
      await page.getByRole('option', { name: 'guests' }).click()
      // Closes the list of groups.
      await page.keyboard.press('Tab')
      await driver.inspect('subjects-groups', 'light')
      await dialog.getByRole('button', { name: 'Change groups' }).click()
      await dialog.getByText('2 of 2 subjects changed.').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      assert.deepEqual((await subjectNamed('Cleo')).groups, ['day', 'staff'])
      const csv = await download(page.getByRole('link', { name: 'Export CSV' }))
      assert.equal(csv.split('\r\n').length, 4, 'a header, two rows and the end')
      const changed = `${csv.replace(',Bob,day,', ',=Bob,day night,')}${'0'.repeat(8)},,Missing,,,,,,\r\n`
      await page.getByRole('button', { name: 'Import' }).click()
      await dialog
        .getByLabel('List and pictures')
        .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(changed) })
      await dialog.getByRole('button', { name: 'Import 3 rows' }).click()
      await dialog.getByText('1 updated · 1 unchanged · 1 refused').waitFor()
      await dialog.getByRole('cell', { name: /^subjectId must be a UUID/u }).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
      await rowOf('=Bob').waitFor()
      assert.deepEqual((await subjectNamed('bob')).groups, ['day', 'night'])
    },
  )

  step('Duplicates are found by a stored face and merged, with the lost data stated', async () => {
    await page.getByRole('button', { name: 'Open Ann Berg' }).click()
    await dialog.getByText(/Price: 0\.002 USD/u).waitFor()
    await dialog.getByRole('button', { name: 'Find similar subjects' }).click()
    await dialog.getByText(/^1 similar subject\./u).waitFor()
    await dialog.getByText(/False-match rate at this similarity: at most 1 of /u).waitFor()
    await inspect('subject-duplicates')
    await dialog.getByRole('button', { name: 'Merge with Anna B.' }).click()
    const merge = page.getByRole('dialog', { name: 'Merge two subjects' })
    await merge
      .getByText(/Moved to Ann Berg: 1 template, .* in guests\. It then has 4 templates/u)
      .waitFor()
    await merge.getByRole('radio', { name: /^Anna B\./u }).check()
    await merge.getByText(/Moved to Anna B\.: 3 templates, .* in staff\./u).waitFor()
    await driver.inspect('subject-merge', 'light')
    await merge.getByRole('radio', { name: /^Ann Berg/u }).check()
    await merge.getByRole('button', { name: 'Merge', exact: true }).click()
    await merge.waitFor({ state: 'detached' })
    const { groups, embeddingCount } = await subjectNamed('Ann')
    assert.deepEqual([groups, embeddingCount], [['guests', 'staff'], 4])
    await dialog
      .getByRole('img', { name: /^Crop of face / })
      .nth(3)
      .waitFor()
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await rowOf('Anna B.').waitFor({ state: 'detached' })
  })

  step('Chosen subjects are deleted after their number is typed', async () => {
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const remove = dialog.getByRole('button', { name: 'Delete permanently' })
    await dialog
      .getByText(/the names of the groups, the number of templates, and the time/u)
      .waitFor()
    await dialog.getByLabel(/to confirm$/u).fill('delete 1 subject')
    assert.ok(await remove.isDisabled())
    await dialog.getByLabel(/to confirm$/u).fill('delete 2 subjects')
    await inspect('subjects-delete')
    await Promise.all([page.getByText('2 deleted').waitFor(), remove.click()])
    await rowOf('Cleo').waitFor({ state: 'detached' })
    assert.equal((await list()).length, 1)
    await driver.open('Deletion ledger')
    await page.getByRole('row').nth(3).waitFor()
    await page.getByRole('cell', { name: 'cleo', exact: true }).waitFor()
  })

  step('A viewer sees the subjects and crops, and cannot change them', async () => {
    const client = await browser.testConsole.inviteMember('viewer')
    const other = await browser.openPage(client)
    await other.goto(`${browser.testConsole.url}/subjects`)
    await other.getByRole('button', { name: 'Open Ann Berg' }).waitFor()
    assert.ok(await isShown(other.locator('main img').first()))
    for (const name of ['Enroll a subject', 'Import'])
      assert.equal(await other.getByRole('button', { name }).count(), 0)
    await other.close()
    assert.deepEqual(driver.violations, [])
    // A request for a subject or a crop may arrive just after its deletion.
    const isDeleted = /\/subjects\/\S+ .* 404 \(Not Found\)$/u
    assert.deepEqual(
      browser.pageErrors.messages.filter((text) => !isDeleted.test(text)),
      [],
    )
  })
})
