package main

import (
	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
)

func answerNodeSelector(line []byte) (any, error) {
	request, err := decode[struct {
		Selector v1.NodeSelector `json:"selector"`
		Nodes    []v1.Node       `json:"nodes"`
	}](line)
	if err != nil {
		return nil, err
	}
	matches, errs := matchNodes(request.Nodes, nodeaffinity.NewLazyErrorNodeSelector(&request.Selector).Match)
	_, strict := nodeaffinity.NewNodeSelector(&request.Selector)
	return map[string]any{"matches": matches, "errors": errs, "strict": textOf(strict)}, nil
}

func answerNodeAffinity(line []byte) (any, error) {
	request, err := decode[struct {
		Pod   v1.Pod    `json:"pod"`
		Nodes []v1.Node `json:"nodes"`
	}](line)
	if err != nil {
		return nil, err
	}
	required, errs := matchNodes(request.Nodes, nodeaffinity.GetRequiredNodeAffinity(&request.Pod).Match)
	preferred, err := scorePreferred(&request.Pod, request.Nodes)
	return map[string]any{
		"required": required, "errors": errs, "preferred": preferred, "preferredError": textOf(err),
	}, nil
}

func matchNodes(nodes []v1.Node, match func(*v1.Node) (bool, error)) ([]bool, []string) {
	matches, errs := []bool{}, []string{}
	for i := range nodes {
		matched, err := match(&nodes[i])
		matches, errs = append(matches, matched), append(errs, textOf(err))
	}
	return matches, errs
}

func scorePreferred(pod *v1.Pod, nodes []v1.Node) ([]int64, error) {
	scores := []int64{}
	var wishes []v1.PreferredSchedulingTerm
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		wishes = affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(wishes)
	if err != nil {
		return scores, err
	}
	for i := range nodes {
		scores = append(scores, terms.Score(&nodes[i]))
	}
	return scores, nil
}

func answerTolerations(line []byte) (any, error) {
	request, err := decode[struct {
		Tolerations []v1.Toleration `json:"tolerations"`
		Taints      []v1.Taint      `json:"taints"`
		Comparison  bool            `json:"comparison"`
	}](line)
	if err != nil {
		return nil, err
	}
	tolerated, untolerated := []bool{}, -1
	repels := helper.DoNotScheduleTaintsFilterFunc()
	for i := range request.Taints {
		taint := &request.Taints[i]
		fine := corev1.TolerationsTolerateTaint(klog.Logger{}, request.Tolerations, taint, request.Comparison)
		tolerated = append(tolerated, fine)
		if !fine && untolerated < 0 && repels(taint) {
			untolerated = i
		}
	}
	return map[string]any{"tolerated": tolerated, "untolerated": untolerated}, nil
}
