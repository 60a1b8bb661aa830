import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject, GalleryIssue, CheckedSubject } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { LinkButton } from '../../components/link-button.tsx'
import type { NamedSubject } from '../../format/subject-name.ts'
import { formatCount } from '../../format/numbers.ts'
import { EnrollDrawer } from '../lazy-parts.tsx'
import { SubjectLink } from '../subjects/subject-link.tsx'
import { PictureIssue } from './picture-issue.tsx'
import { issueTexts } from './issue-texts.ts'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly health: CheckedSubject
  /** The faces of the subject with a stored crop. */
  readonly croppedFaces: readonly string[]
  /** Returns a subject with its name. */
  readonly named: (subject: NamedSubject) => NamedSubject
}

/** The issues that more pictures correct. */
const addingIssues = new Set<GalleryIssue>(['missed', 'oldPictures', 'onePicture', 'lookAlike'])

/** The issues of a subject with their remedies. */
export function SubjectIssues({ projectId, subject, health, croppedFaces, named }: Props) {
  const mayWrite = useHasRole('admin')
  const [isAdding, setIsAdding] = useState(false)
  const pictures = health.pictures.filter(({ issue }) => issue !== null)
  const addsPictures = health.issues.some((issue) => addingIssues.has(issue))
  return (
    <Stack gap="xs">
      {health.issues.map((issue) => (
        <Text key={issue} size="sm">
          <strong>{issueTexts[issue].name}.</strong> {issueTexts[issue].meaning}{' '}
          {issueTexts[issue].remedy}
        </Text>
      ))}
      {pictures.map((picture) => (
        <PictureIssue
          key={picture.faceId}
          projectId={projectId}
          subject={subject}
          picture={picture}
          owner={picture.belongsTo && named(picture.belongsTo)}
          hasCrop={croppedFaces.includes(picture.faceId)}
        />
      ))}
      {health.issues.includes('lookAlike') && (
        <LookAlikes lookAlikes={health.lookAlikes} named={named} />
      )}
      <Group gap="xs">
        {health.issues.includes('duplicate') && (
          <LinkButton
            to="/gallery-health"
            search={{ projectId, tab: 'duplicates' }}
            size="compact-xs"
            variant="default"
          >
            Open duplicates
          </LinkButton>
        )}
        {mayWrite && addsPictures && (
          <Button size="compact-xs" variant="default" onClick={() => setIsAdding(true)}>
            Add pictures
          </Button>
        )}
      </Group>
      {isAdding && (
        <EnrollDrawer
          projectId={projectId}
          subject={subject}
          onOpen={() => setIsAdding(false)}
          onClose={() => setIsAdding(false)}
        />
      )}
    </Stack>
  )
}

function LookAlikes({
  lookAlikes,
  named,
}: Pick<CheckedSubject, 'lookAlikes'> & Pick<Props, 'named'>) {
  return (
    <>
      {lookAlikes.map((other) => (
        <Text key={other.subjectId} size="sm">
          <SubjectLink subject={named(other)} />: similarity {other.similarity.toFixed(4)}, which 1
          of {formatCount(Math.round(1 / other.rate))} pairs of different people reaches.
        </Text>
      ))}
    </>
  )
}
