import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import type { ActionInfo, ConsoleSubject, PlaygroundSettings } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { CallPrice } from '../../money/call-price.tsx'
import { BlockerList, callButtonProps } from '../../playground/call-blockers.tsx'
import { WithCallData } from '../../playground/call-data.tsx'
import { ImagePicker } from '../../playground/images/image-picker.tsx'
import type { PlaygroundImage } from '../../playground/images/playground-image.ts'
import { runBlockers } from '../../playground/run-blockers.ts'
import { toCall, toRun, type PlaygroundRun } from '../../playground/run.ts'
import { EnrollResults, enrollOutcomeOf } from './enroll-results.tsx'
import { GroupPicker, groupProblem } from './group-picker.tsx'

type Props = {
  readonly projectId: string
  /** The subject that receives the faces; undefined: a new one is enrolled. */
  readonly subject: ConsoleSubject | undefined
  /** Opens the enrolled subject. */
  readonly onOpen: (subjectId: string) => void
  readonly onClose: () => void
}

const actionName = 'svc.enroll'

/** Enrolls a new subject, or adds faces to a subject, with svc.enroll. */
export function EnrollDrawer(props: Props) {
  const { subject } = props
  return (
    <DetailDrawer
      title={subject ? `Add faces to ${subjectNameOf(subject)}` : 'Enroll a subject'}
      onClose={props.onClose}
    >
      <WithCallData>{(data) => <EnrollForm {...props} {...data} />}</WithCallData>
    </DetailDrawer>
  )
}

type EnrollFormProps = Props & {
  readonly actions: readonly ActionInfo[]
  readonly settings: PlaygroundSettings
}

type EnrollFields = {
  readonly displayName: string
  readonly externalId: string
  readonly groups: readonly string[]
  readonly facePolicy: string
}

const noFields: EnrollFields = { displayName: '', externalId: '', groups: [], facePolicy: 'single' }
const imagesMax = 10
const imageCount = { min: 1, max: imagesMax, text: `1 to ${imagesMax} pictures of one person` }

function EnrollForm({ projectId, subject, actions, settings, onOpen }: EnrollFormProps) {
  const mayCall = useHasRole('admin')
  const [images, setImages] = useState<readonly PlaygroundImage[]>([])
  const [fields, setFields] = useState(noFields)
  const [run, setRun] = useState<PlaygroundRun>()
  /** The subject of the last call: refused pictures are added to it when they are sent again. */
  const [enrolledId, setEnrolledId] = useState(subject?.subjectId)
  const send = useApiMutation({ method: 'POST', path: '/playground' })
  const sendPictures = (sent: readonly PlaygroundImage[], force = false): void => {
    const params = { ...paramsOf(enrolledId, fields, sent.length), ...(force && { force }) }
    const parts = { params, images: sent, debug: false }
    send.mutate(
      { body: { projectId, call: toCall(actionName, parts) } },
      {
        onSuccess: (response) => {
          const completed = toRun(actionName, parts, response)
          const { value, refusals } = enrollOutcomeOf(completed)
          setRun(completed)
          if (!value) return
          const enrolled = new Set(sent.filter((_, index) => !refusals.has(index)))
          const remaining = images.filter((image) => !enrolled.has(image))
          setImages(remaining)
          setEnrolledId(remaining.length > 0 ? value.subjectId : subject?.subjectId)
          if (remaining.length === 0) setFields(noFields)
        },
      },
    )
  }
  const problem = groupProblem(fields.groups)
  const blockers = runBlockers({ mayCall, problems: {}, imageCount, imagesChosen: images.length })
  const isAdding = enrolledId !== undefined
  return (
    <Stack>
      {run && (
        <EnrollResults
          key={run.id}
          run={run}
          isSending={send.isPending}
          chosenIds={new Set(images.map(({ id }) => id))}
          onOpen={onOpen}
          onForce={(pictureId) =>
            sendPictures(
              images.filter(({ id }) => id === pictureId),
              true,
            )
          }
        />
      )}
      <ImagePicker images={images} imageCount={imageCount} limits={settings} onChange={setImages} />
      {isAdding && !subject && (
        <Text size="sm">The next pictures are added to the subject that was just enrolled.</Text>
      )}
      {!isAdding && <NameFields projectId={projectId} fields={fields} onChange={setFields} />}
      <Select
        size="xs"
        label="A picture with several faces"
        data={facePolicies}
        allowDeselect={false}
        value={fields.facePolicy}
        onChange={(facePolicy) => setFields({ ...fields, facePolicy: facePolicy ?? 'single' })}
      />
      <SendButton
        label={isAdding ? 'Add faces' : 'Enroll'}
        blockers={problem === undefined ? blockers : [...blockers, problem]}
        isRunning={send.isPending}
        onSend={() => sendPictures(images)}
      >
        <CallPrice action={actionName} actions={actions} count={Math.max(1, images.length)} />{' '}
        {images.length > 1 && 'Refused pictures are not charged. '}
        Logged and rate-limited like an API call.
      </SendButton>
      <ErrorNotice title="Couldn't send the pictures" error={send.error} />
    </Stack>
  )
}

const facePolicies = [
  { value: 'single', label: 'Refuse, unless others are much smaller' },
  { value: 'largest', label: 'Use the largest face' },
  { value: 'strict', label: 'Refuse' },
]

function paramsOf(subjectId: string | undefined, fields: EnrollFields, pictures: number) {
  const { facePolicy } = fields
  const { displayName, externalId, groups } = subjectId === undefined ? fields : noFields
  return {
    ...(subjectId !== undefined && { subjectId }),
    ...(displayName !== '' && { displayName }),
    ...(externalId !== '' && { externalId }),
    ...(groups.length > 0 && { groups }),
    ...(pictures > 1 && { allImages: true }),
    facePolicy,
  }
}

type NameFieldsProps = {
  readonly projectId: string
  readonly fields: EnrollFields
  readonly onChange: (fields: EnrollFields) => void
}

function NameFields({ projectId, fields, onChange }: NameFieldsProps) {
  return (
    <>
      <TextInput
        size="xs"
        label="Display name"
        value={fields.displayName}
        onChange={(event) => onChange({ ...fields, displayName: event.currentTarget.value })}
      />
      <TextInput
        size="xs"
        label="External id"
        description="Your id of the person. If a subject already has it, the faces are added to that subject."
        value={fields.externalId}
        onChange={(event) => onChange({ ...fields, externalId: event.currentTarget.value })}
      />
      <GroupPicker
        projectId={projectId}
        label="Groups"
        value={fields.groups}
        onChange={(groups) => onChange({ ...fields, groups })}
      />
    </>
  )
}

type SendButtonProps = {
  readonly label: string
  readonly blockers: readonly string[]
  readonly isRunning: boolean
  readonly onSend: () => void
  readonly children: React.ReactNode
}

/** Sends the call, or states what is missing for it. */
function SendButton({ label, blockers, isRunning, onSend, children }: SendButtonProps) {
  const id = useId()
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <Stack gap={4} id={id}>
        <Text size="xs" c="dimmed" component="div">
          {children}
        </Text>
        {blockers.length > 0 && <BlockerList blockers={blockers} />}
      </Stack>
      <Button
        aria-describedby={id}
        style={{ flex: 'none' }}
        {...callButtonProps({ blockers, isRunning, onRun: onSend })}
      >
        {label}
      </Button>
    </Group>
  )
}
