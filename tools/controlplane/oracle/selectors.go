package main

import (
	"bytes"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

type labelRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type fieldRequirement struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

type selectorAnswer[R any] struct {
	Canonical    string `json:"canonical"`
	Empty        bool   `json:"empty"`
	Matches      []bool `json:"matches"`
	Requirements []R    `json:"requirements"`
}

func answerLabelSelector(line []byte) (any, error) {
	request, err := decode[struct {
		Text     *string         `json:"text"`
		Selector json.RawMessage `json:"selector"`
		Labels   []labels.Set    `json:"labels"`
	}](line)
	if err != nil {
		return nil, err
	}
	selector, err := readLabelSelector(request.Text, request.Selector)
	if err != nil {
		return nil, err
	}
	answer := selectorAnswer[labelRequirement]{
		Canonical:    selector.String(),
		Empty:        selector.Empty(),
		Matches:      []bool{},
		Requirements: []labelRequirement{},
	}
	for _, set := range request.Labels {
		answer.Matches = append(answer.Matches, selector.Matches(set))
	}
	requirements, _ := selector.Requirements()
	for _, one := range requirements {
		answer.Requirements = append(answer.Requirements, labelRequirement{
			Key: one.Key(), Operator: string(one.Operator()), Values: one.Values().List(),
		})
	}
	return answer, nil
}

func readLabelSelector(text *string, structured json.RawMessage) (labels.Selector, error) {
	if text != nil {
		return labels.Parse(*text)
	}
	if structured == nil {
		return nil, fault{errors.New("give text or selector")}
	}
	if bytes.Equal(structured, []byte("null")) {
		return metav1.LabelSelectorAsSelector(nil)
	}
	selector, err := decode[metav1.LabelSelector](structured)
	if err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

func answerFieldSelector(line []byte) (any, error) {
	request, err := decode[struct {
		Text   string       `json:"text"`
		Fields []fields.Set `json:"fields"`
	}](line)
	if err != nil {
		return nil, err
	}
	selector, err := fields.ParseSelector(request.Text)
	if err != nil {
		return nil, err
	}
	answer := selectorAnswer[fieldRequirement]{
		Canonical:    selector.String(),
		Empty:        selector.Empty(),
		Matches:      []bool{},
		Requirements: []fieldRequirement{},
	}
	for _, set := range request.Fields {
		answer.Matches = append(answer.Matches, selector.Matches(set))
	}
	for _, one := range selector.Requirements() {
		answer.Requirements = append(answer.Requirements, fieldRequirement{
			Field: one.Field, Operator: string(one.Operator), Value: one.Value,
		})
	}
	return answer, nil
}
