import { Badge, Collapse, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import type { AppearanceValue } from './action-values.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { formatPercentage } from '../../format/numbers.ts'
import type { ResponseFace } from './envelope.ts'
import { LivenessCard } from './liveness-card.tsx'
import { ScoreBar } from './score-bar.tsx'
import { VerdictLine } from './verdict-line.tsx'
import { componentTexts, qualityReasonTexts } from './words.ts'

type Props = {
  readonly faces: readonly ResponseFace[]
  /** Faces of the image, including those that were not returned. */
  readonly faceCount: number
  readonly imageIndex: number
}

/** The most faces that are shown in full. */
const facesShown = 20

/** The faces of an image with quality, appearance and liveness, as far as the response contains them. */
export function FacesCard({ faces, faceCount, imageIndex }: Props) {
  const text = faceCount === 1 ? '1 face' : `${faceCount === 0 ? 'No' : faceCount} faces`
  return (
    <Stack gap="sm">
      <VerdictLine
        tone={faceCount === 0 ? 'unsure' : 'info'}
        text={`Image ${imageIndex}: ${text}`}
      />
      {faces.slice(0, facesShown).map((face, index) => (
        <FaceDetails key={face.faceIndex ?? index} face={face} isAlone={faces.length === 1} />
      ))}
      {faceCount > Math.min(faces.length, facesShown) && (
        <Text size="xs" c="dimmed">
          The first {Math.min(faces.length, facesShown)} of {faceCount} faces are shown. The
          response below contains {faces.length}.
        </Text>
      )}
    </Stack>
  )
}

type FaceDetailsProps = { readonly face: ResponseFace; readonly isAlone: boolean }

function FaceDetails({ face, isAlone }: FaceDetailsProps) {
  const { faceIndex = 0, confidence, quality, attributes, liveness } = face
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {!isAlone && <Text fw={600}>Face #{faceIndex}</Text>}
        {confidence !== undefined && (
          <Text size="sm" c="dimmed">
            detected with confidence {confidence.toFixed(3)}
          </Text>
        )}
        {face.suitableForEnrollment !== undefined && (
          <Badge variant="default" radius="sm" tt="none">
            {face.suitableForEnrollment ? 'suitable for enrollment' : 'not suitable for enrollment'}
          </Badge>
        )}
      </Group>
      {quality && <QualityBars quality={quality} />}
      {face.reasons && face.reasons.length > 0 && (
        <Text size="sm">
          Defects: {face.reasons.map((reason) => qualityReasonTexts[reason]).join(', ')}
        </Text>
      )}
      {attributes && <AppearanceFacts appearance={attributes} />}
      {liveness && <LivenessCard value={liveness} threshold={liveness.threshold} />}
    </Stack>
  )
}

type QualityBarsProps = { readonly quality: NonNullable<ResponseFace['quality']> }

const levelTones = { low: 'bad', medium: 'plain', high: 'good' } as const

/** The quality score; its components open below. */
export function QualityBars({ quality }: QualityBarsProps) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const components = 'components' in quality ? quality.components : undefined
  return (
    <Stack gap={6}>
      <ScoreBar
        label="Quality"
        value={quality.score}
        max={100}
        text={`${quality.score} of 100, ${quality.level}`}
        tone={levelTones[quality.level]}
      />
      {components && (
        <>
          <UnstyledButton onClick={toggle} aria-expanded={isOpen} fz="xs" c="dimmed">
            <Group gap={4}>
              {isOpen ? (
                <IconChevronDown size={14} aria-hidden />
              ) : (
                <IconChevronRight size={14} aria-hidden />
              )}
              Components of the quality
            </Group>
          </UnstyledButton>
          <Collapse expanded={isOpen}>
            <Stack gap={4} pl="md">
              {Object.entries(components).map(([name, score]) => (
                <ScoreBar
                  key={name}
                  label={componentTexts[name] ?? name}
                  value={score}
                  max={100}
                  text={String(score)}
                  tone={score < 40 ? 'bad' : score < 70 ? 'plain' : 'good'}
                />
              ))}
            </Stack>
          </Collapse>
        </>
      )}
    </Stack>
  )
}

/** Age, gender, expression, eyes and mouth. Absent values are left out. */
function AppearanceFacts({ appearance }: { readonly appearance: AppearanceValue }) {
  const { age, gender, expression, eyesOpen, mouthOpen } = appearance
  const eye = (probability: number): string => (probability >= 0.5 ? 'open' : 'closed')
  return (
    <DefinitionList
      items={{
        ...(age && { Age: `about ${Math.round(age.value)} (${age.low} to ${age.high})` }),
        ...(gender && {
          'Apparent gender': `${gender.value} (${formatPercentage(gender.confidence)})`,
        }),
        ...(expression && {
          Expression: `${expression.value} (${formatPercentage(expression.confidence)})`,
        }),
        ...(eyesOpen && { Eyes: `left ${eye(eyesOpen.left)}, right ${eye(eyesOpen.right)}` }),
        ...(mouthOpen && { Mouth: mouthOpen.value ? 'open' : 'closed' }),
      }}
    />
  )
}
