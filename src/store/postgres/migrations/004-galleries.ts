import { readStatements } from '../../migrations.ts'
import { fromSqlite, withFreeSpace } from './from-sqlite.ts'
import { indexPlans } from './index-plans.ts'
import { ofAccount, ofGallery, ofProject, secure } from './row-security.ts'

/**
 * Galleries, their keys and calibrations, their subjects with groups and attributes, and the faces of
 * subjects with templates and crops. Foreign keys delete everything of a subject together with its row.
 */
export const statements: readonly string[] = [
  ...fromSqlite('004-galleries', {
    except: [
      'subjects_by_text',
      'templates',
      'templates_of_model',
      'searchableAttributes',
      'pagesOfFaces',
    ],
  }),
  ...readStatements(new URL('galleries.sql', import.meta.url)),
  ...withFreeSpace('galleries'),
  ...secure(ofAccount, 'galleries', 'certificateKeys'),
  ...secure(ofGallery, 'removals', 'galleryKeys', 'galleryCalibrations'),
  ...secure(ofGallery, 'subjects', 'subjectGroups', 'subjectAttributes'),
  ...secure(ofGallery, 'distinctSubjects', 'subjectMerges', 'matchedSubjects', 'matchVerdicts'),
  ...Array.from(
    { length: 16 },
    (_, part) => `create table templates_${part} partition of templates
      for values with (modulus 16, remainder ${part})`,
  ),
  ...secure(ofProject, 'crops', 'nearMissCrops', 'matchDays'),
  ...secure(ofGallery, 'faces', 'templates', 'galleryPages'),
  ...indexPlans('"deletePage"(text, bigint)'),
]
