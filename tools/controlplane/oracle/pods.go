package main

import (
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type schedulerNumbers struct {
	MilliCPU         int64                     `json:"milliCPU"`
	Memory           int64                     `json:"memory"`
	EphemeralStorage int64                     `json:"ephemeralStorage"`
	Pods             int                       `json:"pods"`
	Scalars          map[v1.ResourceName]int64 `json:"scalars"`
	NonzeroMilliCPU  int64                     `json:"nonzeroMilliCPU"`
	NonzeroMemory    int64                     `json:"nonzeroMemory"`
}

func answerPodRequests(line []byte) (any, error) {
	request, err := decode[struct {
		Pod v1.Pod `json:"pod"`
	}](line)
	if err != nil {
		return nil, err
	}
	// Each is asked about a copy: PodRequests may add the overhead into the pod's own pod-level requests.
	pod := request.Pod.DeepCopy
	return map[string]any{
		"fit":       describeAll(resource.PodRequests(pod(), optionsForFit())),
		"held":      describeAll(resource.PodRequests(pod(), optionsForHeld())),
		"scheduler": countAsScheduler(pod()),
	}, nil
}

// optionsForFit are those of NodeResourcesFit: an unplaced pod has no status worth reading.
func optionsForFit() resource.PodResourcesOptions {
	gates := utilfeature.DefaultFeatureGate
	return resource.PodResourcesOptions{
		SkipPodLevelResources:                    !gates.Enabled(features.PodLevelResources),
		UseDRANodeAllocatableResourceClaimStatus: gates.Enabled(features.DRANodeAllocatableResources),
	}
}

// optionsForHeld are those of the scheduler's PodInfo: what the pod takes on its node while a resize is under way.
func optionsForHeld() resource.PodResourcesOptions {
	options := optionsForFit()
	gates := utilfeature.DefaultFeatureGate
	options.UseStatusResources = gates.Enabled(features.InPlacePodVerticalScaling)
	options.InPlacePodLevelResourcesVerticalScalingEnabled =
		gates.Enabled(features.InPlacePodLevelResourcesVerticalScaling)
	return options
}

func countAsScheduler(pod *v1.Pod) schedulerNumbers {
	// Not NewPodInfo: it would also parse affinity terms, and requests do not depend on them.
	counted := (&framework.PodInfo{Pod: pod}).CalculateResource()
	scalars := counted.Resource.GetScalarResources()
	if scalars == nil {
		scalars = map[v1.ResourceName]int64{}
	}
	return schedulerNumbers{
		MilliCPU:         counted.Resource.GetMilliCPU(),
		Memory:           counted.Resource.GetMemory(),
		EphemeralStorage: counted.Resource.GetEphemeralStorage(),
		Pods:             counted.Resource.GetAllowedPodNumber(),
		Scalars:          scalars,
		NonzeroMilliCPU:  counted.Non0CPU,
		NonzeroMemory:    counted.Non0Mem,
	}
}

func describeAll(list v1.ResourceList) map[v1.ResourceName]quantityAnswer {
	answers := make(map[v1.ResourceName]quantityAnswer, len(list))
	for name, quantity := range list {
		answers[name] = describe(quantity)
	}
	return answers
}
