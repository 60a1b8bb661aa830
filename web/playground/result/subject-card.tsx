import { List, Stack, Text } from '@mantine/core'
import type { ActionValues } from './action-values.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { ShortId } from '../../components/names/short-id.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { QualityBars } from './faces-card.tsx'
import { ScoreBar } from './score-bar.tsx'
import { VerdictLine } from './verdict-line.tsx'

/** The enrolled subject, the quality of the face and similar subjects. */
export function EnrollCard({ value }: { readonly value: ActionValues['svc.enroll'] }) {
  const { created, subjectId, externalId, embeddingCount, groups, duplicates, images = [] } = value
  const enrolled = images.filter((image) => image.enrolled).length
  return (
    <Stack gap="sm">
      <VerdictLine
        tone={enrolled < images.length ? 'unsure' : 'good'}
        text={
          enrolled < images.length
            ? `${enrolled} of ${images.length} images enrolled`
            : created
              ? 'New subject enrolled'
              : 'Face added to the subject'
        }
      />
      <DefinitionList
        items={{
          Subject: <ShortId label="subject id" id={subjectId} />,
          ...(externalId !== null && { 'External id': externalId }),
          Templates: embeddingCount,
          ...(groups.length > 0 && { Groups: groups.join(', ') }),
          ...(images.length > 0 && { Images: `${enrolled} of ${images.length} enrolled` }),
        }}
      />
      {images.some(({ error }) => error) && (
        <List size="sm" aria-label="Images that were not enrolled">
          {images.map(({ index, error }) =>
            error ? (
              <List.Item key={index}>
                Image {index}: {error.message} {error.hint}
              </List.Item>
            ) : null,
          )}
        </List>
      )}
      <QualityBars quality={value.face.quality} />
      {duplicates.length > 0 && (
        <Stack gap="xs">
          <VerdictLine tone="unsure" text="Similar subjects are already enrolled" />
          {duplicates.map((duplicate) => (
            <ScoreBar
              key={duplicate.subjectId}
              label={subjectNameOf(duplicate)}
              value={duplicate.similarity}
              text={duplicate.similarity.toFixed(4)}
            />
          ))}
        </Stack>
      )}
    </Stack>
  )
}

/** The subject after its update. */
export function UpdateCard({ value }: { readonly value: ActionValues['svc.updateSubject'] }) {
  return (
    <Stack gap="sm">
      <VerdictLine tone="good" text="Subject updated" />
      <DefinitionList
        items={{
          Subject: <ShortId label="subject id" id={value.subjectId} />,
          Name: value.displayName ?? '–',
          'External id': value.externalId ?? '–',
          Groups: value.groups.join(', ') || '–',
          Templates: value.embeddingCount,
          'Updated (UTC)': <UtcTime timestampUtc={value.updatedAtUtc} />,
          'Expires (UTC)': <UtcTime timestampUtc={value.expiresAtUtc} fallback="never" />,
        }}
      />
    </Stack>
  )
}

/** What was deleted, and what the deletion ledger keeps. */
export function DeleteCard({ value }: { readonly value: ActionValues['svc.deleteSubject'] }) {
  return (
    <Stack gap="sm">
      <VerdictLine tone="good" text="Subject deleted" />
      <DefinitionList
        items={{
          Subject: <ShortId label="subject id" id={value.subjectId} />,
          'Deleted templates': value.embeddingCount,
          'Deleted (UTC)': <UtcTime timestampUtc={value.deletedAtUtc} />,
        }}
      />
      <Text size="xs" c="dimmed">
        The deletion ledger keeps the ids, the groups, the number of templates and the time.
        Templates, name and attributes are gone; this cannot be undone.
      </Text>
    </Stack>
  )
}
