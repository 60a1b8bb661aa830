import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { foldText, searchTextOf } from './search-text.ts'

test('Case, accents and compatibility forms are folded', () => {
  const folded: Readonly<Record<string, string>> = {
    'Müller-Løwenstein': 'muller-lowenstein',
    'ZOË O’Brien': 'zoe o’brien',
    'Zoe\u0308': 'zoe',
    'می\u200Cخواهم': 'میخواهم',
    'क्\u200Dष': 'क्ष',
    '\u{1F469}\u200D\u{1F467} Ann\u00ADa': '\u{1F469}\u{1F467} anna',
    Straße: 'strasse',
    STRAẞE: 'strasse',
    '\u{1D6A4}': 'i',
    'ŁUKASZ Đorđe': 'lukasz dorde',
    Æsir: 'aesir',
    ΟΔΥΣΣΕΎΣ: 'οδυσσευσ',
    Ёлкин: 'елкин',
    İstanbul: 'istanbul',
    'Ｆｕｌｌ width': 'full width',
    'ﬁlm\tnew\nline\u00A0x': 'film new line x',
    한국어: '한국어',
    がく: 'がく',
    हिन्दी: 'हिन्दी',
    '100%_a\\': '100%_a\\',
    '': '',
  }
  for (const [text, expected] of Object.entries(folded)) assert.equal(foldText(text), expected)
})

test('Folded text is not changed by folding it again, and contains no separator', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 64 }), (text) => {
      const once = foldText(text)
      assert.equal(foldText(once), once)
      assert.ok(!once.includes('\n'))
    }),
    { numRuns: 2000 },
  )
})

test('A part of the name and of the external id is a part of the search text, but not across both', () => {
  const text = searchTextOf({ displayName: 'Anna Berg', externalId: 'B-7' })
  for (const part of ['ANNA', 'berg', 'b-7']) assert.ok(text.includes(foldText(part)), part)
  for (const part of ['BergB', 'Berg B-7', 'Berg\nB-7']) assert.ok(!text.includes(foldText(part)))
  assert.equal(searchTextOf({ displayName: null, externalId: null }), '\n')
})
